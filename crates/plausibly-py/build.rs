//! On macOS an extension module is linked before its Python is known, and the linker must be told
//! so.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
