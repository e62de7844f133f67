//! The dialects of the boolean-program language and what sets them apart.
//!
//! The language was published once (Bebop, Figure 2) and grew in three tools. A concrete dialect
//! reads what its tool reads and refuses the rest by name; [`Dialect::Auto`] reads the union.

/// Whose boolean programs to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Figure 2 of the Bebop paper, and the `elsif` of its Figure 4.
    Bebop,
    /// What SLAM's C2bp prints.
    Slam,
    /// What SATABS's Boppo reads.
    Boppo,
    /// What Getafix reads.
    Getafix,
    /// Everything that any of them has. `T` and `F` are constants, operators bind as in Getafix
    /// (and C), and an expression that another dialect would read differently gets a warning.
    #[default]
    Auto,
}

/// A construct that not every dialect has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Feature {
    ReturnType,
    UntypedProcedure,
    ReturnValue,
    CallResult,
    SeveralTargets,
    SeveralLabels,
    Assume,
    Print,
    Star,
    QuestionMark,
    ChoiceInExpression,
    Choose,
    Schoose,
    ConstrainSuffix,
    ConstrainStatement,
    Enforce,
    GlobalEnforce,
    AbortIf,
    Dead,
    LateDeclaration,
    LateGlobal,
    Dfs,
    ThreadLocal,
    BracedName,
    SpecialName,
    Tilde,
    DoubledOperator,
    EqualsEquals,
    Equivalence,
}

/// How strongly operators bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// `= !=`, then `&`, `^`, `|`, `=>`, `<=>`, all to the left: Getafix, and C's order.
    LikeC,
    /// `&`, then `|`, `^`, and last `=> = !=` to the right.
    LikeBoppo,
}

/// An operator as written, before `!=` and `^` become the same thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `&`, `&&`
    And,
    /// `|`, `||`
    Or,
    /// `^`
    Xor,
    /// `=`, `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `=>`
    Implies,
    /// `<=>`
    Equivalent,
}

impl Binding {
    /// Whether `a left b right c` is `(a left b) right c`.
    pub(crate) fn groups_left(self, left: Operator, right: Operator) -> bool {
        let level = |op| match (self, op) {
            (Binding::LikeC, Operator::Equal | Operator::NotEqual) => 6,
            (Binding::LikeC, Operator::And) => 5,
            (Binding::LikeC, Operator::Xor) => 4,
            (Binding::LikeC, Operator::Or) => 3,
            (Binding::LikeC, Operator::Implies) => 2,
            (Binding::LikeC, Operator::Equivalent) => 1,
            (Binding::LikeBoppo, Operator::And) => 3,
            (Binding::LikeBoppo, Operator::Or) => 2,
            (Binding::LikeBoppo, Operator::Xor) => 1,
            (Binding::LikeBoppo, _) => 0,
        };
        level(left) > level(right) || (level(left) == level(right) && level(left) > 0)
    }
}

impl Operator {
    /// Whether grouping does not matter between the two: `=`, `!=`, `<=>` and `^` all count
    /// parities, and any mixture of them is the same however it is grouped.
    pub(crate) fn associates_with(self, other: Operator) -> bool {
        let parity = |op| !matches!(op, Operator::And | Operator::Or | Operator::Implies);
        parity(self) && parity(other)
    }

    /// The canonical spelling.
    pub fn text(self) -> &'static str {
        match self {
            Operator::And => "&",
            Operator::Or => "|",
            Operator::Xor => "^",
            Operator::Equal | Operator::Equivalent => "=",
            Operator::NotEqual => "!=",
            Operator::Implies => "=>",
        }
    }
}

impl Dialect {
    /// Every dialect, in the order of the documentation.
    pub const ALL: [Dialect; 5] = [
        Dialect::Bebop,
        Dialect::Slam,
        Dialect::Boppo,
        Dialect::Getafix,
        Dialect::Auto,
    ];

    /// The name as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Dialect::Bebop => "bebop",
            Dialect::Slam => "slam",
            Dialect::Boppo => "boppo",
            Dialect::Getafix => "getafix",
            Dialect::Auto => "auto",
        }
    }

    /// The name as in prose.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Dialect::Bebop => "Bebop",
            Dialect::Slam => "SLAM",
            Dialect::Boppo => "Boppo",
            Dialect::Getafix => "Getafix",
            Dialect::Auto => "auto",
        }
    }

    /// How operators bind.
    pub(crate) fn binding(self) -> Binding {
        match self {
            Dialect::Boppo => Binding::LikeBoppo,
            _ => Binding::LikeC,
        }
    }

    /// Whether expressions that the dialects group differently deserve a warning: no publication
    /// of the Bebop and SLAM dialects says how their operators bind.
    pub(crate) fn warns_of_grouping(self) -> bool {
        matches!(self, Dialect::Auto | Dialect::Bebop | Dialect::Slam)
    }

    /// Whether `T` and `F` are the constants; else they are names like any other.
    pub(crate) fn has_letter_constants(self) -> bool {
        self != Dialect::Bebop
    }

    /// Whether `_` is a target that discards; else it is a name like any other.
    pub(crate) fn has_discard(self) -> bool {
        self != Dialect::Bebop
    }

    pub(crate) fn has(self, feature: Feature) -> bool {
        use Dialect::*;
        use Feature::*;
        if self == Auto {
            return true;
        }
        match feature {
            ReturnType | ReturnValue | CallResult | Assume | Enforce | Tilde | DoubledOperator => {
                self != Bebop
            }
            UntypedProcedure | BracedName | QuestionMark => self != Boppo,
            Star => self != Bebop,
            SeveralTargets | SeveralLabels | ChoiceInExpression | Schoose | ConstrainSuffix
            | AbortIf | Dead => matches!(self, Slam | Boppo),
            Print => self != Boppo,
            Choose | GlobalEnforce | EqualsEquals | Equivalence => self == Slam,
            ConstrainStatement => matches!(self, Slam | Getafix),
            LateDeclaration | LateGlobal | Dfs | ThreadLocal | SpecialName => self == Boppo,
        }
    }
}

impl Feature {
    /// The construct as a message names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Feature::ReturnType => "a return type",
            Feature::UntypedProcedure => "a procedure without `void` or `bool`",
            Feature::ReturnValue => "a return value",
            Feature::CallResult => "assigning the result of a call",
            Feature::SeveralTargets => "`goto` with several targets",
            Feature::SeveralLabels => "a second label on a statement",
            Feature::Assume => "`assume`",
            Feature::Print => "`print`",
            Feature::Star => "`*`",
            Feature::QuestionMark => "`?`",
            Feature::ChoiceInExpression => "a choice that is not a whole condition",
            Feature::Choose => "`choose`",
            Feature::Schoose => "`schoose`",
            Feature::ConstrainSuffix => "`constrain` after an assignment",
            Feature::ConstrainStatement => "`constrain` as a statement",
            Feature::Enforce => "`enforce`",
            Feature::GlobalEnforce => "`enforce` outside of procedures",
            Feature::AbortIf => "`abortif`",
            Feature::Dead => "`dead`",
            Feature::LateDeclaration => "a declaration after the first statement",
            Feature::LateGlobal => "a global declaration after a procedure",
            Feature::Dfs => "`dfs`",
            Feature::ThreadLocal => "`thread_local`",
            Feature::BracedName => "a name in braces",
            Feature::SpecialName => "a name with `$`, `#` or `-`",
            Feature::Tilde => "`~`",
            Feature::DoubledOperator => "a doubled operator",
            Feature::EqualsEquals => "`==`",
            Feature::Equivalence => "`<=>`",
        }
    }
}
