//! Explains decisions of a log: a certificate as a page, the status of a log as a page and a slide.

mod certificate;
mod parts;
mod slide;
mod status;

pub use certificate::certificate_page;
pub use slide::{PICTURE_MARK, status_svg};
pub use status::status_page;
