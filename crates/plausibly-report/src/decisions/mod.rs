//! Decisions of a log, explained: the page of a certificate, and how a log stands as a page and as
//! a slide.

mod certificate;
mod parts;
mod slide;
mod status;

pub use certificate::certificate_page;
pub use slide::{PICTURE_MARK, status_svg};
pub use status::status_page;
