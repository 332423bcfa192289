//! From Cedar's own JSON of a policy to a compiled rule.

use std::boxed::Box;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use serde_json::{Map, Value};

use crate::expr::{Branches, Expr, Literal, Named, Op, Piece, Sides, Var};
use crate::rule::{ActionScope, Scope, is_group};

/// What a rule is about.
pub(super) struct Lowered {
    pub(super) principal: Scope,
    pub(super) action: ActionScope,
    pub(super) resource: Scope,
    pub(super) when: Option<Expr>,
}

/// Lowers a policy.
///
/// # Errors
///
/// Something is used that is not supported, as a fragment that says what.
pub(super) fn policy(json: &Value) -> Result<Lowered, String> {
    let mut conditions = Vec::new();
    for condition in json.get("conditions").and_then(Value::as_array).into_iter().flatten() {
        let body = expr(part(condition, "body")?)?;
        match condition.get("kind").and_then(Value::as_str) {
            Some("unless") => conditions.push(Expr::Not(Box::new(body))),
            _ => conditions.push(body),
        }
    }
    Ok(Lowered {
        principal: scope(part(json, "principal")?)?,
        action: action(part(json, "action")?)?,
        resource: scope(part(json, "resource")?)?,
        when: joined(conditions, Expr::And),
    })
}

fn part<'j>(json: &'j Value, name: &str) -> Result<&'j Value, String> {
    json.get(name).ok_or_else(|| format!("`{name}` is missing"))
}

fn text(json: &Value, name: &str) -> Result<String, String> {
    part(json, name)?.as_str().map(ToString::to_string).ok_or_else(|| format!("`{name}` is no text"))
}

fn scope(json: &Value) -> Result<Scope, String> {
    let entity = |json: &Value| Ok::<_, String>((text(json, "type")?, text(json, "id")?));
    match (json.get("op").and_then(Value::as_str), json.get("entity"), json.get("entity_type"), json.get("in")) {
        (Some("All"), ..) => Ok(Scope::Any),
        (Some("=="), Some(of), ..) => entity(of).map(|(kind, id)| Scope::Is { kind, id }),
        (Some("in"), Some(of), ..) => entity(of).map(|(kind, id)| Scope::In { kind, id, of: None }),
        (Some("is"), _, Some(_), None) => Ok(Scope::Kind(text(json, "entity_type")?)),
        (Some("is"), _, Some(_), Some(within)) => {
            let (kind, id) = entity(part(within, "entity")?)?;
            Ok(Scope::In { kind, id, of: Some(text(json, "entity_type")?) })
        }
        _ => Err("templates are not supported".into()),
    }
}

fn action(json: &Value) -> Result<ActionScope, String> {
    let listed = json.get("entities").and_then(Value::as_array).into_iter().flatten().chain(json.get("entity"));
    let mut ids = listed.map(|entity| text(entity, "id")).collect::<Result<Vec<_>, _>>()?;
    ids.sort();
    ids.dedup();
    match (json.get("op").and_then(Value::as_str), ids.as_slice()) {
        (Some("All"), _) => Ok(ActionScope::Any),
        (Some("=="), [id]) => Ok(ActionScope::Is(id.clone())),
        (_, [id]) if !is_group(id) => Ok(ActionScope::Is(id.clone())),
        _ => Ok(ActionScope::In(ids)),
    }
}

fn expr(json: &Value) -> Result<Expr, String> {
    let one = json.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.iter().next());
    let Some((name, inner)) = one else { return Err("an expression of an unknown form".into()) };
    let arg = || expr(part(inner, "arg")?).map(Box::new);
    let left = || expr(part(inner, "left")?).map(Box::new);
    Ok(match name.as_str() {
        "Value" => literal(inner)?,
        "Var" => Expr::Var(var(inner)?),
        "!" => Expr::Not(arg()?),
        "neg" => match *arg()? {
            Expr::Literal(Literal::Long(number)) if number != i64::MIN => Expr::Literal(Literal::Long(-number)),
            other => Expr::Neg(Box::new(other)),
        },
        "isEmpty" => Expr::IsEmpty(arg()?),
        "&&" | "||" => {
            let sides = [part(inner, "left")?, part(inner, "right")?];
            let sides = sides.into_iter().map(expr).collect::<Result<Vec<_>, _>>()?;
            let join = if name == "&&" { Expr::And } else { Expr::Or };
            joined(sides, join).ok_or("an operator has no sides")?
        }
        "." => Expr::Attr(left()?, text(inner, "attr")?),
        "has" => has(inner)?,
        "like" => Expr::Like(left()?, pattern(part(inner, "pattern")?)?),
        "is" => {
            let of = *left()?;
            let is = Expr::Is(Box::new(of.clone()), text(inner, "entity_type")?);
            match inner.get("in") {
                None => is,
                Some(within) => Expr::And(Vec::from([is, sides(Op::In, of, expr(within)?)])),
            }
        }
        "if-then-else" => Expr::If(Box::new(Branches {
            test: expr(part(inner, "if")?)?,
            then: expr(part(inner, "then")?)?,
            otherwise: expr(part(inner, "else")?)?,
        })),
        "Set" => Expr::Set(inner.as_array().into_iter().flatten().map(expr).collect::<Result<_, _>>()?),
        "Record" => record(inner.as_object().ok_or("a record of an unknown form")?)?,
        operator => match serde_json::from_value::<Op>(Value::from(operator)) {
            Ok(op) => sides(op, *left()?, expr(part(inner, "right")?)?),
            Err(_) => return Err(format!("`{operator}` is not supported")),
        },
    })
}

fn sides(op: Op, left: Expr, right: Expr) -> Expr {
    Expr::Of(op, Box::new(Sides { left, right }))
}

fn var(json: &Value) -> Result<Var, String> {
    serde_json::from_value(json.clone()).map_err(|_| format!("`{json}` is no variable"))
}

/// `a has b`, or `a has b.c`.
fn has(json: &Value) -> Result<Expr, String> {
    let mut of = expr(part(json, "left")?)?;
    let Some(path) = json.get("attr").filter(|attr| attr.is_array()).and_then(Value::as_array) else {
        return Ok(Expr::Has(Box::new(of), text(json, "attr")?));
    };
    let mut all = Vec::new();
    for name in path.iter().filter_map(Value::as_str) {
        all.push(Expr::Has(Box::new(of.clone()), name.to_string()));
        of = Expr::Attr(Box::new(of), name.to_string());
    }
    joined(all, Expr::And).ok_or_else(|| "`has` names no attribute".to_string())
}

fn record(fields: &Map<String, Value>) -> Result<Expr, String> {
    let mut named = fields
        .iter()
        .map(|(name, value)| Ok(Named { name: name.clone(), value: expr(value)? }))
        .collect::<Result<Vec<_>, String>>()?;
    named.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(Expr::Record(named))
}

/// A value as Cedar writes it.
fn literal(json: &Value) -> Result<Expr, String> {
    Ok(Expr::Literal(match json {
        Value::Bool(flag) => Literal::Bool(*flag),
        Value::Number(number) => Literal::Long(number.as_i64().ok_or("the number is too large")?),
        Value::String(text) => Literal::Text(text.clone()),
        Value::Array(items) => return Ok(Expr::Set(items.iter().map(literal).collect::<Result<_, _>>()?)),
        Value::Object(fields) => match fields.get("__entity") {
            Some(entity) => Literal::Entity { kind: text(entity, "type")?, id: text(entity, "id")? },
            None => return Err("a value of an unknown form".into()),
        },
        Value::Null => return Err("a value of an unknown form".into()),
    }))
}

/// Pieces of text that follow each other become one.
fn pattern(json: &Value) -> Result<Vec<Piece>, String> {
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in json.as_array().into_iter().flatten() {
        match (piece.get("Literal").and_then(Value::as_str), pieces.last_mut()) {
            (Some(more), Some(Piece::Text(text))) => text.push_str(more),
            (Some(text), _) => pieces.push(Piece::Text(text.to_string())),
            (None, Some(Piece::Any(()))) => {}
            (None, _) if piece.as_str() == Some("Wildcard") => pieces.push(Piece::Any(())),
            (None, _) => return Err("a pattern of an unknown form".into()),
        }
    }
    Ok(pieces)
}

/// One expression of several: those that are joined the same way become one.
fn joined(all: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Option<Expr> {
    let by_and = matches!(join(Vec::new()), Expr::And(_));
    let mut flat = Vec::new();
    for one in all {
        match one {
            Expr::And(inner) if by_and => flat.extend(inner),
            Expr::Or(inner) if !by_and => flat.extend(inner),
            other => flat.push(other),
        }
    }
    if flat.len() > 1 { Some(join(flat)) } else { flat.pop() }
}
