"""Reads texts, a JSON text a line, and prints what Python's own parser makes of each: a list, or null."""
import ast
import json
import sys
import warnings

warnings.simplefilter("ignore")
BINARY = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.MatMult: "@",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitOr: "|", ast.BitXor: "^", ast.BitAnd: "&",
}
UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
COMPARE = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.In: "in",
    ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not",
}


class Odd(Exception):
    pass


def parameters(args):
    positional = args.posonlyargs + args.args
    defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    pairs = list(zip(positional, defaults))
    pairs += [(args.vararg, None)] if args.vararg else []
    pairs += list(zip(args.kwonlyargs, args.kw_defaults))
    pairs += [(args.kwarg, None)] if args.kwarg else []
    values = []
    for arg, default in pairs:
        values += [value for value in (arg.annotation, default) if value is not None]
    return " ".join(arg.arg for arg, _ in pairs), values


def values_of(joined):
    for part in joined.values:
        if isinstance(part, ast.FormattedValue):
            yield part.value
            if part.format_spec is not None:
                yield from values_of(part.format_spec)


def expr(node, out):
    kind = type(node)
    if kind is ast.Name:
        out.append("name " + node.id)
    elif kind is ast.Constant:
        out.append("text " + node.value if isinstance(node.value, str) else "constant")
    elif kind is ast.JoinedStr:
        out.append("formatted")
        for value in values_of(node):
            expr(value, out)
        out.append("end")
    elif kind is ast.Attribute:
        out.append("attribute " + node.attr)
        expr(node.value, out)
    elif kind is ast.Call:
        out.append("call %d" % (len(node.args) + len(node.keywords)))
        expr(node.func, out)
        for arg in node.args:
            starred = isinstance(arg, ast.Starred)
            out.append("argument *" if starred else "argument")
            expr(arg.value if starred else arg, out)
        for keyword in node.keywords:
            out.append("argument " + (keyword.arg or "**"))
            expr(keyword.value, out)
    elif kind is ast.Subscript:
        out.append("index")
        expr(node.value, out)
        expr(node.slice, out)
    elif kind is ast.Slice:
        display("slice", [part for part in (node.lower, node.upper, node.step) if part is not None], out)
    elif kind is ast.BinOp:
        out.append("binary " + BINARY[type(node.op)])
        expr(node.left, out)
        expr(node.right, out)
    elif kind is ast.UnaryOp:
        out.append("unary " + UNARY[type(node.op)])
        expr(node.operand, out)
    elif kind is ast.BoolOp:
        out.append("%s %d" % ("or" if isinstance(node.op, ast.Or) else "and", len(node.values)))
        for value in node.values:
            expr(value, out)
    elif kind is ast.Compare:
        out.append("compare " + " ".join(COMPARE[type(op)] for op in node.ops))
        expr(node.left, out)
        for value in node.comparators:
            expr(value, out)
    elif kind is ast.IfExp:
        out.append("if")
        for part in (node.body, node.test, node.orelse):
            expr(part, out)
    elif kind in (ast.List, ast.Tuple, ast.Set):
        display(kind.__name__.lower(), node.elts, out)
    elif kind is ast.Dict:
        count = sum(1 if key is None else 2 for key in node.keys)
        out.append("display dict %d" % count)
        for key, value in zip(node.keys, node.values):
            if key is None:
                out.append("star")
            else:
                expr(key, out)
            expr(value, out)
    elif kind is ast.Lambda:
        names, values = parameters(node.args)
        out.append("lambda " + names)
        for value in values:
            expr(value, out)
        expr(node.body, out)
    elif kind in (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp):
        elements = [node.key, node.value] if kind is ast.DictComp else [node.elt]
        out.append("comprehension %d %d" % (len(elements), len(node.generators)))
        for element in elements:
            expr(element, out)
        for clause in node.generators:
            if clause.is_async:
                raise Odd
            expr(clause.target, out)
            expr(clause.iter, out)
            out.append("tests %d" % len(clause.ifs))
            for test in clause.ifs:
                expr(test, out)
    elif kind is ast.NamedExpr:
        out.append("bind " + node.target.id)
        expr(node.value, out)
    elif kind is ast.Starred:
        out.append("star")
        expr(node.value, out)
    elif kind in (ast.Yield, ast.YieldFrom):
        out.append("yield %d" % (node.value is not None))
        if node.value is not None:
            expr(node.value, out)
    else:
        raise Odd


def display(what, all_of_it, out):
    out.append("display %s %d" % (what, len(all_of_it)))
    for one in all_of_it:
        expr(one, out)


def block(body, out):
    out.append("{")
    for node in body:
        statement(node, out)
    out.append("}")


def several(what, values, out):
    values = [value for value in values if value is not None]
    out.append("%s %d" % (what, len(values)))
    for value in values:
        expr(value, out)


def imported(names, out):
    for name in names:
        out.append("imported %s %s" % (name.name, name.asname or "-"))


def statement(node, out):
    kind = type(node)
    if kind in (ast.Expr, ast.Return):
        several("evaluate", [node.value], out)
    elif kind is ast.Raise:
        several("evaluate", [node.exc, node.cause], out)
    elif kind is ast.Assert:
        several("evaluate", [node.test, node.msg], out)
    elif kind is ast.Assign:
        several("assign", node.targets + [node.value], out)
    elif kind is ast.AnnAssign:
        several("annotated", [node.target, node.annotation, node.value], out)
    elif kind is ast.AugAssign:
        several("augmented", [node.target, node.value], out)
    elif kind is ast.Delete:
        several("delete", node.targets, out)
    elif kind in (ast.Pass, ast.Break, ast.Continue, ast.Global, ast.Nonlocal):
        out.append("nothing")
    elif kind is ast.Import:
        out.append("import")
        imported(node.names, out)
    elif kind is ast.ImportFrom:
        if node.level:
            raise Odd
        out.append("from " + node.module)
        imported(node.names, out)
    elif kind in (ast.If, ast.While):
        out.append("branch")
        expr(node.test, out)
        block(node.body, out)
        block(node.orelse, out)
    elif kind is ast.For:
        out.append("for")
        expr(node.target, out)
        expr(node.iter, out)
        block(node.body, out)
        block(node.orelse, out)
    elif kind is ast.Try:
        out.append("try")
        block(node.body, out)
        for handler in node.handlers:
            several("handler " + (handler.name or "-"), [handler.type], out)
            block(handler.body, out)
        for after in (node.orelse, node.finalbody):
            if after:
                block(after, out)
    elif kind is ast.With:
        out.append("with")
        for item in node.items:
            several("item", [item.context_expr, item.optional_vars], out)
        block(node.body, out)
    elif kind is ast.FunctionDef:
        if node.decorator_list or getattr(node, "type_params", None):
            raise Odd
        names, values = parameters(node.args)
        out.append("def %s %s" % (node.name, names))
        for value in values + [node.returns]:
            if value is not None:
                expr(value, out)
        block(node.body, out)
    else:
        raise Odd


for line in sys.stdin:
    found = []
    try:
        block(ast.parse(json.loads(line)).body, found)
    except Odd:
        found = ["odd"]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found = None
    print(json.dumps(found))
