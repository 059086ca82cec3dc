package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
)

// condition plants into an expression on which control depends: it is negated whole.
func (p *planter) condition(x ast.Expr) {
	if p.isBool(x) && p.info.Types[x].Value == nil {
		number := p.add(x, "negate %s", p.original(x))
		p.surround(x, fmt.Sprintf("(mutation(%d) != (", number), "))")
	}
	p.parts(x, true)
}

func (p *planter) expressionIf(x ast.Expr) {
	if x != nil {
		p.expression(x)
	}
}

// expression plants into a value.
func (p *planter) expression(x ast.Expr) { p.parts(x, false) }

// operand plants into one side of && or ||: it is dropped, which leaves the other side.
func (p *planter) operand(x ast.Expr, of token.Token) {
	if p.isBool(x) && p.info.Types[x].Value == nil {
		number := p.add(x, "drop %s of %s", p.original(x), of)
		if of == token.LAND {
			p.surround(x, fmt.Sprintf("(mutation(%d) || (", number), "))")
		} else {
			p.surround(x, fmt.Sprintf("(!mutation(%d) && (", number), "))")
		}
	}
	p.parts(x, false)
}

// parts plants into the parts of an expression. negated says that a change of the whole
// is planted already, so that an equality in it needs none of its own.
func (p *planter) parts(x ast.Expr, negated bool) {
	switch e := x.(type) {
	case *ast.BinaryExpr:
		p.binary(e, negated)
	case *ast.ParenExpr:
		p.parts(e.X, negated)
	case *ast.UnaryExpr:
		if _, literal := e.X.(*ast.CompositeLit); literal {
			p.composite(e.X.(*ast.CompositeLit))
			return
		}
		p.parts(e.X, negated)
	case *ast.StarExpr:
		p.expression(e.X)
	case *ast.SelectorExpr:
		p.expression(e.X)
	case *ast.IndexExpr:
		if !p.info.Types[e.Index].IsType() {
			p.expression(e.X)
			p.expression(e.Index)
		}
	case *ast.SliceExpr:
		p.expression(e.X)
	case *ast.CompositeLit:
		p.composite(e)
	case *ast.CallExpr:
		p.call(e)
	case *ast.TypeAssertExpr:
		p.expression(e.X)
	case *ast.FuncLit:
		outer := p.results
		p.results = e.Type.Results
		p.block(e.Body.List)
		p.results = outer
	}
}

// opposite maps a comparison to the one that differs in the case of equality, and an
// equality to its negation.
var opposite = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
}

func (p *planter) binary(e *ast.BinaryExpr, negated bool) {
	switch e.Op {
	case token.LAND, token.LOR:
		p.operand(e.X, e.Op)
		p.operand(e.Y, e.Op)
		return
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		p.boundary(e)
	case token.EQL, token.NEQ:
		if !negated {
			p.boundary(e)
		}
	}
	p.expression(e.X)
	p.expression(e.Y)
}

// boundary plants another comparison. The other one is written with the original text of
// both sides, since only one change is on at a time.
func (p *planter) boundary(e *ast.BinaryExpr) {
	if p.info.Types[e].Value != nil {
		return
	}
	other := fmt.Sprintf("%s %s %s", p.original(e.X), opposite[e.Op], p.original(e.Y))
	number := p.add(e, "instead of %s: %s", p.original(e), other)
	p.surround(e, fmt.Sprintf("(mutation(%d) && (%s) || !mutation(%[1]d) && (", number, other), "))")
}

// composite leaves out fields of a structure and values of a map, one at a time.
func (p *planter) composite(e *ast.CompositeLit) {
	t := p.info.Types[e].Type
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	for _, element := range e.Elts {
		pair, keyed := element.(*ast.KeyValueExpr)
		if !keyed {
			p.expression(element)
			continue
		}
		if text := p.elementType(t, pair); text != "" && !p.zero(pair.Value) {
			number := p.add(pair, "leave out %s: %s", p.original(pair.Key), p.original(pair.Value))
			p.surround(pair.Value, fmt.Sprintf("mutationZero[%s](%d, ", text, number), ")")
		}
		p.expression(pair.Value)
	}
}

// elementType is the text of the type that a keyed element has; empty where this file
// cannot name it, or where the element's own type is left out.
func (p *planter) elementType(t types.Type, pair *ast.KeyValueExpr) string {
	if literal, ok := pair.Value.(*ast.CompositeLit); ok && literal.Type == nil {
		return ""
	}
	var of types.Type
	switch u := t.Underlying().(type) {
	case *types.Struct:
		key, ok := pair.Key.(*ast.Ident)
		if !ok {
			return ""
		}
		object, ok := p.info.Uses[key]
		if !ok {
			return ""
		}
		of = object.Type()
	case *types.Map:
		of = u.Elem()
	default:
		return ""
	}
	return p.typeText(of)
}

// typeText writes a type as this file can name it; empty if it cannot.
func (p *planter) typeText(t types.Type) string {
	nameable := true
	text := types.TypeString(t, func(of *types.Package) string {
		if of == p.types {
			return ""
		}
		name, imported := p.imports[of.Path()]
		if !imported {
			nameable = false
		}
		if name == "" {
			name = of.Name()
		}
		return name
	})
	if !nameable || hidden(t) {
		return ""
	}
	return text
}

// hidden reports a type of another package that is not exported. A nested one shows as a
// build failure, which names the place.
func hidden(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Pkg() != nil && !named.Obj().Exported() && named.Obj().Parent() != named.Obj().Pkg().Scope()
}

// call swaps neighbouring arguments of one type, where evaluating them twice does nothing.
func (p *planter) call(e *ast.CallExpr) {
	if p.info.Types[e.Fun].IsType() { // a conversion
		for _, argument := range e.Args {
			p.expression(argument)
		}
		return
	}
	p.expression(e.Fun)
	for i := 0; i+1 < len(e.Args); i++ {
		if p.builtin(e) || !p.swappable(e.Args[i], e.Args[i+1]) {
			continue
		}
		a, b := p.original(e.Args[i]), p.original(e.Args[i+1])
		number := p.add(e, "swap %s and %s of %s", a, b, p.original(e.Fun))
		p.surround(e.Args[i], fmt.Sprintf("mutationSwap(%d, ", number), ", "+b+")")
		p.surround(e.Args[i+1], fmt.Sprintf("mutationSwap(%d, ", number), ", "+a+")")
	}
	for _, argument := range e.Args {
		p.expression(argument)
	}
}

func (p *planter) builtin(e *ast.CallExpr) bool {
	name, ok := e.Fun.(*ast.Ident)
	if !ok {
		return false
	}
	_, is := p.info.Uses[name].(*types.Builtin)
	return is
}

func (p *planter) swappable(a, b ast.Expr) bool {
	x, y := p.info.Types[a], p.info.Types[b]
	return plain(a) && plain(b) && p.original(a) != p.original(b) &&
		x.Type != nil && y.Type != nil && x.Value == nil && y.Value == nil && types.Identical(x.Type, y.Type) &&
		x.Type != types.Typ[types.UntypedNil]
}

// plain reports an expression that can be evaluated any number of times.
func plain(x ast.Expr) bool {
	switch e := x.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return plain(e.X)
	case *ast.StarExpr:
		return plain(e.X)
	}
	return false
}

// isBool reports an expression of the type bool itself: a switch gives no other.
func (p *planter) isBool(x ast.Expr) bool {
	t, ok := p.info.Types[x]
	if !ok || t.Type == nil {
		return false
	}
	basic, ok := t.Type.(*types.Basic)
	return ok && basic.Info()&types.IsBoolean != 0
}
