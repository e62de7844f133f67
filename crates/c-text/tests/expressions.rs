//! One language in three dialects: what is the same in all of them, and what is not.

use expect_test::{Expect, expect};
use hardbop_c_text::Dialect;
use hardbop_c_text::lexer::{TokenKind, lex};
use hardbop_c_text::names::{Old, ProgramNames, Scope};
use hardbop_c_text::parser::Parser;
use hardbop_c_text::print;
use hardbop_c_text::typing::Typing;
use hardbop_cfront::dump::type_name;
use hardbop_cfront::edit::Tables;
use hardbop_cfront::load::load_text;
use hardbop_cfront::program::Program;
use hardbop_cfront::verify::verify;

const C: &str = "
    struct node { int value; struct { int inside; }; struct node *next; unsigned flag : 3; };
    int g; long wide; unsigned char byte; int a[4]; double real; struct node *head;
    int get(int n, int *p) { return n + *p; }
    int main(void) { return get(g, &g) + a[byte & 3] + (int)wide + (int)real + head->value; }
";

fn program() -> Program {
    load_text("x.c", C).expect(C).program
}

/// The text of an expression of `get` after it has been read, and its type; or what is wrong.
fn read(tables: &mut Tables, dialect: Dialect, text: &str) -> String {
    let file = tables.program.sources.add("text", text);
    let function = tables.program.function_named("get").expect("it is there");
    let (tokens, wrong) = lex(dialect, file, text, 0..text.len());
    if let Some(error) = wrong.first() {
        return format!("{}: {}", error.message, error.label);
    }
    let mut parser = Parser::new(dialect, tokens);
    let mut olds: Vec<Old> = Vec::new();
    let mut names = ProgramNames {
        scope: Scope::Function(function),
        olds: &mut olds,
        result: None,
    };
    let mut typing = Typing {
        dialect,
        tables,
        names: &mut names,
    };
    let typed = parser.expression().and_then(|root| {
        if parser.peek().kind != TokenKind::End {
            return parser.unexpected("the end");
        }
        typing.value(&parser.ast, root)
    });
    match typed {
        Ok(expr) => {
            let program = &tables.program;
            let ty = type_name(&program.types, program.expr(expr).ty);
            format!("{} : {ty}", print::text(program, expr))
        }
        Err(error) => format!("{}: {}", error.message, error.label),
    }
}

#[track_caller]
fn check(texts: &[&str], expected: Expect) {
    let mut told = String::new();
    let mut tables = Tables::new(program());
    for text in texts {
        told.push_str(&format!("{text}\n"));
        let all = [Dialect::Rule, Dialect::Predicate, Dialect::Witness]
            .map(|dialect| read(&mut tables, dialect, text));
        if all.iter().all(|one| *one == all[0]) {
            told.push_str(&format!("    {}\n", all[0]));
        } else {
            let [rule, predicate, witness] = all;
            told.push_str(&format!(
                "    rule: {rule}\n    predicate: {predicate}\n    witness: {witness}\n"
            ));
        }
    }
    assert_eq!(verify(&tables.program), Vec::<String>::new());
    expected.assert_eq(&told);
}

#[test]
fn all_dialects_have_the_operators_of_c() {
    check(
        &[
            "g == 0 || !(n > 1 && wide) && ~byte != -3",
            "g ? byte : 2 * n + 1 << 3 & 7",
            "head->next->value <= a[n] && head->inside",
            "(*head).flag == 1u && &g == p",
            "(unsigned char)g == byte && (struct node *)p == head",
            "sizeof(struct node) > sizeof g",
            "'a' + '\\n' + '\\x41' + '\\101' + '\\xff'",
            "0xffffffff + 3000000000 + 7ULL + 010 + 0b11",
            "get == 0 && head == NULL",
            "g /* not this */ + 1 // nor this",
        ],
        expect![[r#"
            g == 0 || !(n > 1 && wide) && ~byte != -3
                g == 0 || !(n > 1 && wide) && ~byte != -3 : int
            g ? byte : 2 * n + 1 << 3 & 7
                g ? (int)byte : 2 * n + 1 << 3 & 7 : int
            head->next->value <= a[n] && head->inside
                head->next->value <= a[n] && head->inside : int
            (*head).flag == 1u && &g == p
                head->flag == 1 && &g == p : int
            (unsigned char)g == byte && (struct node *)p == head
                (unsigned char)g == byte && (struct node *)p == head : int
            sizeof(struct node) > sizeof g
                24UL > 4 : int
            'a' + '\n' + '\x41' + '\101' + '\xff'
                97 + 10 + 65 + 65 + -1 : int
            0xffffffff + 3000000000 + 7ULL + 010 + 0b11
                (unsigned long)(4294967295L + 3000000000L) + 7 + 8 + 3 : unsigned long
            get == 0 && head == NULL
                get == 0 && head == 0 : int
            g /* not this */ + 1 // nor this
                g + 1 : int
        "#]],
    );
}

#[test]
fn dialects_have_words_of_their_own() {
    check(
        &[
            "$return == 1",
            "return == 1",
            "old(n) < n",
            "\\old(n) < \\result",
            "\\at(*p, Pre) == \\at(g, Here)",
            "old(old(n))",
            "\\forall n",
        ],
        expect![[r#"
            $return == 1
                $return == 1 : int
            return == 1
                rule: unexpected `return`: expected an expression
                predicate: $return == 1 : int
                witness: $return == 1 : int
            old(n) < n
                rule: a rule calls no functions: it only looks at what the program does
                predicate: old(n) < n : int
                witness: old(n) < n : int
            \old(n) < \result
                rule: `\` has no place in a rule: 
                predicate: `\` has no place in a predicate: 
                witness: old(n) < $return : int
            \at(*p, Pre) == \at(g, Here)
                rule: `\` has no place in a rule: 
                predicate: `\` has no place in a predicate: 
                witness: old(*p) == g : int
            old(old(n))
                rule: a rule calls no functions: it only looks at what the program does
                predicate: `old` cannot be nested: 
                witness: `old` cannot be nested: 
            \forall n
                rule: `\` has no place in a rule: 
                predicate: `\` has no place in a predicate: 
                witness: `\forall` means nothing here: expected `\result`, `\old(...)` or `\at(..., Pre)`
        "#]],
    );
}

#[test]
fn a_rule_does_nothing_that_could_go_wrong() {
    check(
        &[
            "g / n",
            "g / 2",
            "p + 1 == &g",
            "p - &g",
            "p == 5",
            "real > 1.5",
            "&n == p",
        ],
        expect![[r#"
            g / n
                rule: a rule divides by constants only, and not by 0: the divisor is neither
                predicate: g / n : int
                witness: g / n : int
            g / 2
                g / 2 : int
            p + 1 == &g
                rule: a rule does no arithmetic on pointers: 
                predicate: p + 1 == &g : int
                witness: p + 1 == &g : int
            p - &g
                rule: a rule does no arithmetic on pointers: 
                predicate: p - &g : long
                witness: p - &g : long
            p == 5
                rule: a pointer and an integer do not go together: expected two pointers or two integers
                predicate: p == (int *)0x5 : int
                witness: p == (int *)0x5 : int
            real > 1.5
                rule: rules do not look at floating-point numbers: one of them
                predicate: real > 1.5 : int
                witness: real > 1.5 : int
            &n == p
                rule: only what outlives the call has an address in a rule: this does not
                predicate: &n == p : int
                witness: &n == p : int
        "#]],
    );
}

#[test]
fn mistakes_are_told_in_the_words_of_the_dialect() {
    check(
        &[
            "g +",
            "(g",
            "g g",
            "g = 1",
            "g += 1",
            "g++",
            "--g",
            "get(1, p)",
            "09",
            "'ab'",
            "é",
            "\"text\"",
            "*g",
            "*(void *)p",
            "g.value",
            "head->valeu",
            "*head",
            "&(g + 1)",
            "&head->flag",
            "g[1]",
            "a[real]",
            "-p",
            "~real",
            "real << 1",
            "p * 2",
            "(long short)g",
            "(struct none *)p",
            "(struct node)g",
            "p + p",
            "real == p",
            "real % 2.0",
            "gg",
        ],
        expect![[r#"
            g +
                rule: unexpected end of the rule: expected an expression
                predicate: unexpected end of the predicate: expected an expression
                witness: unexpected end of the expression: expected an expression
            (g
                rule: unexpected end of the rule: expected `)`
                predicate: unexpected end of the predicate: expected `)`
                witness: unexpected end of the expression: expected `)`
            g g
                unexpected `g`: expected the end
            g = 1
                rule: an expression has no side effects: expected `==`, or an assignment as a statement of its own
                predicate: an expression has no side effects: an assignment; a comparison is written `==`
                witness: an expression has no side effects: an assignment; a comparison is written `==`
            g += 1
                an expression has no side effects: an assignment
            g++
                rule: an expression has no side effects: expected a statement of its own
                predicate: an expression has no side effects: 
                witness: an expression has no side effects: 
            --g
                rule: an expression has no side effects: expected a statement of its own
                predicate: an expression has no side effects: 
                witness: an expression has no side effects: 
            get(1, p)
                rule: a rule calls no functions: it only looks at what the program does
                predicate: a predicate calls no functions: it only looks at what the program does
                witness: an expression of a witness calls no functions: it only looks at what the program does
            09
                `09` is not a number of C: expected a constant such as 10, 0x1f, 7UL or 'a'
            'ab'
                this is not a character constant: expected one character between quotes, such as 'a'
            é
                rule: `é` has no place in a rule: 
                predicate: `é` has no place in a predicate: 
                witness: `é` has no place in an expression of a witness: 
            "text"
                rule: unexpected "text": expected an expression
                predicate: a predicate cannot have string literals: 
                witness: an expression of a witness cannot have string literals: 
            *g
                only a pointer can be followed: the operand has the type `int`
            *(void *)p
                a pointer to `void` cannot be followed: convert it to another pointer first
            g.value
                a value of type `int` has no members: not a struct or union
            head->valeu
                `struct node` has no member `valeu`: did you mean `value`?
            *head
                a value of type `struct node` is not a scalar: 
            &(g + 1)
                only what is stored has an address: 
            &head->flag
                a bit-field has no address: 
            g[1]
                only arrays and pointers can be indexed: 
            a[real]
                rule: rules do not look at floating-point numbers: one of them
                predicate: an index is an integer: not an integer
                witness: an index is an integer: not an integer
            -p
                this operator needs a number: the operand has the type `int *`
            ~real
                rule: rules do not look at floating-point numbers: one of them
                predicate: this operator needs an integer: the operand has the type `double`
                witness: this operator needs an integer: the operand has the type `double`
            real << 1
                rule: rules do not look at floating-point numbers: one of them
                predicate: shifts need integers: 
                witness: shifts need integers: 
            p * 2
                rule: a rule does no arithmetic on pointers: 
                predicate: this operator does not take pointers: 
                witness: this operator does not take pointers: 
            (long short)g
                `long short` is not a type: 
            (struct none *)p
                there is no struct or union `none`: 
            (struct node)g
                only scalars can be converted to: 
            p + p
                rule: a rule does no arithmetic on pointers: 
                predicate: pointers cannot be added up like this: 
                witness: pointers cannot be added up like this: 
            real == p
                rule: rules do not look at floating-point numbers: one of them
                predicate: a pointer and a floating-point number do not go together: 
                witness: a pointer and a floating-point number do not go together: 
            real % 2.0
                rule: rules do not look at floating-point numbers: one of them
                predicate: this operator needs integers: 
                witness: this operator needs integers: 
            gg
                there is no variable `gg`: did you mean `g`?
        "#]],
    );
}

/// Whatever the depth: an answer, and no deep recursion.
#[test]
fn long_texts_are_read() {
    let mut tables = Tables::new(program());
    let long = format!("n{}", " + 1".repeat(20_000));
    for dialect in [Dialect::Predicate, Dialect::Witness] {
        assert!(read(&mut tables, dialect, &long).ends_with(" : int"));
    }
    let deep = format!("{}n{}", "(".repeat(50_000), ")".repeat(50_000));
    assert!(read(&mut tables, Dialect::Witness, &deep).contains("nested too deeply"));
}
