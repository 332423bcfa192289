//! Links the program of a debug build at a fixed address. Tests start it some ten thousand times, and to adjust 267,000
//! addresses of a program that may lie anywhere takes each start longer than what it does.

#![allow(clippy::print_stdout, reason = "that is how a build script speaks to cargo")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|have| have == value);
    if is("PROFILE", "debug") && is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
