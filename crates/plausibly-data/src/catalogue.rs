//! What there is: addresses, licences, citations, checksums.

/// A data set as its publishers offer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSet {
    /// What this project calls it.
    pub name: &'static str,
    /// What its publishers call it.
    pub title: &'static str,
    /// File name of its archive.
    pub archive: &'static str,
    /// Where that is published.
    pub url: &'static str,
    /// The terms, in a line.
    pub licence: &'static str,
    /// Whether the terms must be accepted by the person who fetches it.
    pub must_accept: bool,
    /// What to cite.
    pub citation: &'static str,
    /// The members that are read.
    pub members: &'static [Member],
}

/// A file inside an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its path there.
    pub path: &'static str,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal.
    pub sha256: &'static str,
}

impl Member {
    /// The last part of its path: its name in the cache.
    pub fn file_name(&self) -> &'static str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }
}

impl DataSet {
    /// The data set of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        DATA_SETS.iter().find(|set| set.name == name)
    }
}

/// MovieLens 1M: a million ratings of films.
pub const MOVIELENS: DataSet = DataSet {
    name: "movielens",
    title: "MovieLens 1M",
    archive: "ml-1m.zip",
    url: "https://files.grouplens.org/datasets/movielens/ml-1m.zip",
    licence: "GroupLens usage licence: research only, no commercial use, no redistribution without permission (ml-1m/README)",
    must_accept: true,
    citation: "F. M. Harper, J. A. Konstan. The MovieLens Datasets: History and Context. ACM TiiS 5(4):19, 2015.",
    members: &[Member {
        path: "ml-1m/ratings.dat",
        bytes: 24_594_131,
        sha256: "506d64ca44484487c11dc2d9a28de5c54948213e6b96285e298afe28d6ea4e0f",
    }],
};

/// White wine: chemistry and a rating of 4,898 wines.
pub const WINE: DataSet = DataSet {
    name: "wine",
    title: "Wine Quality (white)",
    archive: "wine+quality.zip",
    url: "https://archive.ics.uci.edu/static/public/186/wine+quality.zip",
    licence: "CC BY 4.0",
    must_accept: false,
    citation: "P. Cortez et al. Modeling wine preferences by data mining from physicochemical properties. Decision Support Systems 47(4):547-553, 2009. DOI 10.24432/C56S3T.",
    members: &[Member {
        path: "winequality-white.csv",
        bytes: 264_426,
        sha256: "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
    }],
};

/// Heart failure: records of 299 patients.
pub const HEART: DataSet = DataSet {
    name: "heart",
    title: "Heart Failure Clinical Records",
    archive: "heart+failure+clinical+records.zip",
    url: "https://archive.ics.uci.edu/static/public/519/heart+failure+clinical+records.zip",
    licence: "CC BY 4.0",
    must_accept: false,
    citation: "D. Chicco, G. Jurman. Machine learning can predict survival of patients with heart failure. BMC Med. Inform. Decis. Mak. 20:16, 2020. DOI 10.24432/C5Z89R.",
    members: &[Member {
        path: "heart_failure_clinical_records_dataset.csv",
        bytes: 12_239,
        sha256: "9c73cea7468ff5d517801ec050fe9993da5912fce4b56f296f8df3b38dd75912",
    }],
};

/// All of them.
pub const DATA_SETS: [DataSet; 3] = [MOVIELENS, WINE, HEART];
