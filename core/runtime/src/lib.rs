//! phasegate-runtime: the I/O around the decision.
//!
//! It finds configs, gathers facts, keeps journal and state, and sees to it that an answer goes out in time and is a
//! denial where nothing better can be known. The modules are listed in reading order.

pub mod timestamp;
pub mod locations;
pub mod guard_file;
pub mod bounds;
pub mod project;
pub mod paths;
pub mod discover;
pub mod texts;
pub mod strays;
pub mod policy_store;
pub mod platforms;
pub mod hook_installation;
mod effects;
mod protected;
pub mod analysis;
pub mod facts;
pub mod deprecated_files;
pub mod decide;
#[cfg(any(test, feature = "testing"))]
pub mod scratch;
pub mod redact;
pub mod ancestors;
pub mod client_shell;
mod sender;
pub mod connections;
pub mod servers;
mod client_settings;
mod repository;
mod client_texts;
mod modules;
pub mod strength;
pub mod difference;
pub mod session_index;
pub mod alarm;
pub mod client_records;
pub mod snapshot;
mod call_comparison;
pub mod integrity;
pub mod deadline;
pub mod sessions;
mod awake;
pub mod lineage;
mod outer;
pub mod failure_mode;
pub mod seen;
pub mod runtime;
pub mod accepted;
pub mod step_trial;
pub mod first_look;
pub mod audit;
pub mod loaded;
pub mod driver;
pub mod serving;
pub mod other_projects;
mod descendant_projects;
pub mod opened;
pub mod frames;
pub mod probe;
pub mod status;
pub mod hook;
pub mod heartbeat;
pub mod attribution;
pub mod project_command;
mod project_folders;
pub mod reload;
pub mod acceptance;
pub mod restore;
pub mod known_servers;
pub mod doctor;
pub mod verify;
pub mod record_comparison;
pub mod retention;
pub mod repair;
pub mod replay;
pub mod backtest;

pub use phasegate_store::{digest, files};

pub use locations::Locations;
pub use project::Project;
pub use runtime::Runtime;
