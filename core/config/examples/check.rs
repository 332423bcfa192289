//! Prints the diagnostics of a file.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a tool")]
use phasegate_config::*;
fn main(){ for p in std::env::args().skip(1) { let text=std::fs::read_to_string(&p).unwrap(); let kind=if p.ends_with(".md"){Kind::SkillMd}else if p.contains("settings"){Kind::Settings}else{Kind::Skill};
 let c=compile(&[SourceFile{path:p.clone(),text,level:Level::Project,kind}]);
 println!("== {p} {} {}", c.policy.skills.len(), c.policy.version);
 for d in &c.diagnostics { println!("{}:{}:{} {:?} {} [{}] cause {:?} help {:?} span {:?}", d.path,d.line,d.column,d.severity,d.message,d.code,d.cause,d.suggestion,d.span); } } }
