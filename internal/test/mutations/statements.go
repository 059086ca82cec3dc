package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// block plants into a list of statements: those that can be left out are, and those with
// expressions have theirs changed.
func (p *planter) block(list []ast.Stmt) {
	for _, statement := range list {
		if p.removable(statement) {
			number := p.add(statement, "remove %s", p.original(statement))
			p.surround(statement, fmt.Sprintf("if !mutation(%d) { ", number), " }")
		}
		p.statement(statement)
	}
}

// removable reports whether the function still compiles without a statement, and whether
// a test could be expected to notice: log lines and locks are no part of what is measured.
func (p *planter) removable(statement ast.Stmt) bool {
	switch s := statement.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		return ok && !p.ends(call) && !p.logs(call) && !locks(call)
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE {
			return false
		}
		name, blank := s.Lhs[0].(*ast.Ident)
		return !blank || name.Name != "_" || len(s.Lhs) > 1
	case *ast.IncDecStmt, *ast.SendStmt:
		return true
	case *ast.BranchStmt:
		return s.Label == nil && (s.Tok == token.CONTINUE || s.Tok == token.BREAK)
	}
	return false
}

// ends reports a call that never returns: without it the function could lack a return.
func (p *planter) ends(call *ast.CallExpr) bool {
	name, ok := call.Fun.(*ast.Ident)
	return ok && name.Name == "panic"
}

func (p *planter) logs(call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if t := p.info.Types[selector.X].Type; t != nil && strings.HasSuffix(t.String(), "log/slog.Logger") {
		return true
	}
	name, ok := selector.X.(*ast.Ident)
	return ok && name.Name == "slog"
}

func locks(call *ast.CallExpr) bool {
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch selector.Sel.Name {
	case "Lock", "Unlock", "RLock", "RUnlock":
		return true
	}
	return false
}

func (p *planter) statement(statement ast.Stmt) {
	switch s := statement.(type) {
	case *ast.BlockStmt:
		p.block(s.List)
	case *ast.IfStmt:
		p.simple(s.Init)
		p.condition(s.Cond)
		p.block(s.Body.List)
		if s.Else != nil {
			p.statement(s.Else)
		}
	case *ast.ForStmt:
		p.simple(s.Init)
		if s.Cond != nil {
			p.condition(s.Cond)
		}
		p.block(s.Body.List)
	case *ast.RangeStmt:
		p.expression(s.X)
		p.block(s.Body.List)
	case *ast.SwitchStmt:
		p.simple(s.Init)
		p.expressionIf(s.Tag)
		for _, clause := range s.Body.List {
			c := clause.(*ast.CaseClause)
			for _, value := range c.List {
				if s.Tag == nil {
					p.condition(value)
				} else {
					p.expression(value)
				}
			}
			p.block(c.Body)
		}
	case *ast.TypeSwitchStmt:
		for _, clause := range s.Body.List {
			p.block(clause.(*ast.CaseClause).Body)
		}
	case *ast.SelectStmt:
		for _, clause := range s.Body.List {
			p.block(clause.(*ast.CommClause).Body)
		}
	case *ast.LabeledStmt:
		p.statement(s.Stmt)
	case *ast.ReturnStmt:
		p.returned(s)
	default:
		p.simple(statement)
	}
}

// simple plants into the expressions of a statement that stands where none can be left
// out, such as the header of a loop.
func (p *planter) simple(statement ast.Stmt) {
	switch s := statement.(type) {
	case *ast.ExprStmt:
		p.expression(s.X)
	case *ast.AssignStmt:
		for _, value := range s.Rhs {
			p.expression(value)
		}
	case *ast.DeclStmt:
		if d := s.Decl.(*ast.GenDecl); d.Tok == token.VAR {
			for _, spec := range d.Specs {
				for _, value := range spec.(*ast.ValueSpec).Values {
					p.expression(value)
				}
			}
		}
	case *ast.DeferStmt:
		p.expression(s.Call)
	case *ast.GoStmt:
		p.expression(s.Call)
	case *ast.SendStmt:
		p.expression(s.Value)
	}
}

// returned makes a return give zero values, or true in place of a constant false.
func (p *planter) returned(s *ast.ReturnStmt) {
	if zeros := p.zeros(s); zeros != "" {
		number := p.add(s, "instead of %s: return %s", p.original(s), zeros)
		p.surround(s, fmt.Sprintf("if mutation(%d) { return %s }; ", number, zeros), "")
	}
	for _, value := range s.Results {
		if p.isBool(value) && p.info.Types[value].Value == nil {
			p.condition(value)
		} else {
			p.expression(value)
		}
	}
}

// zeros is the text of the zero values that a return could give in place of its own;
// empty where there are none, or where it gives them already.
func (p *planter) zeros(s *ast.ReturnStmt) string {
	if p.results == nil || len(s.Results) == 0 {
		return ""
	}
	var list []string
	for _, field := range p.results.List {
		if p.hidden(field.Type, s.Pos()) {
			return ""
		}
		for range max(1, len(field.Names)) {
			list = append(list, "*new("+p.original(field.Type)+")")
		}
	}
	if len(list) == 1 && len(s.Results) == 1 {
		if p.isBool(s.Results[0]) {
			value := p.info.Types[s.Results[0]].Value
			switch {
			case value == nil:
				return "" // its condition is negated
			case value.String() == "false":
				return "true"
			}
			return "false"
		}
	}
	for _, value := range s.Results {
		if !p.zero(value) {
			return strings.Join(list, ", ")
		}
	}
	return ""
}

// hidden reports whether a name in the text of a type means something else at a place in
// the function: a variable has the type's name there.
func (p *planter) hidden(written ast.Expr, at token.Pos) (is bool) {
	scope := p.types.Scope().Innermost(at)
	ast.Inspect(written, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			is = is || p.hidden(selector.X, at)
			return false
		}
		if name, ok := node.(*ast.Ident); ok && p.info.Uses[name] != nil {
			_, there := scope.LookupParent(name.Name, at)
			is = is || there != p.info.Uses[name]
		}
		return true
	})
	return is
}

// zero reports whether an expression is the zero value as written.
func (p *planter) zero(value ast.Expr) bool {
	switch v := value.(type) {
	case *ast.Ident:
		if v.Name == "nil" {
			return true
		}
	case *ast.CompositeLit:
		if _, structure := p.info.Types[value].Type.Underlying().(*types.Struct); structure && len(v.Elts) == 0 {
			return true
		}
	}
	if constant := p.info.Types[value].Value; constant != nil {
		text := constant.ExactString()
		return text == "0" || text == `""` || text == "false"
	}
	return false
}
