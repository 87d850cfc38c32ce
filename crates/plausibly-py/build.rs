//! Tells the linker on macOS to accept undefined Python symbols. Python provides them when it loads
//! the extension module.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
