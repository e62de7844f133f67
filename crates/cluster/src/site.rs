//! A site: what its scheduler is like, and what it is asked for.
//!
//! The tool keeps to its own limits and says UNKNOWN; a scheduler kills. So the scheduler is asked
//! for more than the tool allows itself, and a node begins no item that might not end in time.

use serde::{Deserialize, Serialize};

/// How long beyond its limit an item may take until it is ended from outside, in seconds.
pub const GRACE: f64 = 15.0;

/// What a site file says; `docs/src/cluster.md` describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Site {
    /// How many tasks may run at a time.
    pub workers: Option<usize>,
    /// Cores for one task.
    pub cores: u32,
    /// How much more memory is asked for than an item is allowed: a factor.
    pub memory_factor: f64,
    /// And so much besides, in MiB.
    pub memory_margin: u64,
    /// MiB for one task where the project has no limit on memory; the scheduler's own if left out.
    pub memory: Option<u64>,
    /// How much more time is asked for than is expected: a factor.
    pub time_factor: f64,
    /// And so much besides, in seconds: the start of a node, a slow file system.
    pub time_margin: f64,
    /// Seconds for one task where the project has no limit on time; the scheduler's own if left
    /// out.
    pub time: Option<f64>,
    /// What a task is to be worth at least, in seconds; by the kind of scheduler if left out.
    pub pack: Option<f64>,
    /// How many times an item is begun before it is given up.
    pub tries: u32,
    /// More arguments for the scheduler's command: an account, a quality of service.
    pub arguments: Vec<String>,
    /// The name of HyperQueue's resource that stands for memory in MiB, if its workers have one.
    pub memory_resource: Option<String>,
    /// Lines of shell that a node runs before the work: modules, paths.
    pub prologue: String,
}

impl Default for Site {
    fn default() -> Site {
        Site {
            workers: None,
            cores: 1,
            memory_factor: 1.5,
            memory_margin: 512,
            memory: None,
            time_factor: 2.0,
            time_margin: 60.0,
            time: None,
            pack: None,
            tries: 3,
            arguments: Vec::new(),
            memory_resource: None,
            prologue: String::new(),
        }
    }
}

/// Where the work is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum On {
    /// On this machine.
    Local,
    /// By HyperQueue: the directory of its server, if it is not the usual one.
    Hq(Option<String>),
    /// By Slurm: the partition, if it is not the usual one.
    Slurm(Option<String>),
}

impl On {
    /// What a user writes: `local`, `hq`, `hq:SERVER`, `slurm`, `slurm:PARTITION`.
    pub fn parse(text: &str) -> Result<On, String> {
        let (kind, place) = match text.split_once(':') {
            Some((kind, place)) if !place.is_empty() => (kind, Some(place.to_owned())),
            Some(_) => return Err(format!("nothing stands behind the colon of `{text}`")),
            None => (text, None),
        };
        match (kind, place) {
            ("local", None) => Ok(On::Local),
            ("hq", place) => Ok(On::Hq(place)),
            ("slurm", place) => Ok(On::Slurm(place)),
            _ => Err(format!(
                "`{text}` is no place to work: there are `local`, `hq[:SERVER]` and \
                 `slurm[:PARTITION]`"
            )),
        }
    }

    /// What a task is to be worth there at least, in seconds. It may be little, since a process
    /// that is done with its task takes over others that wait, and no scheduler is asked for that.
    pub fn worth(&self) -> f64 {
        match self {
            On::Local => 0.0,
            On::Hq(_) | On::Slurm(_) => 1.0,
        }
    }
}

impl std::fmt::Display for On {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            On::Local => f.write_str("local"),
            On::Hq(None) => f.write_str("hq"),
            On::Hq(Some(server)) => write!(f, "hq:{server}"),
            On::Slurm(None) => f.write_str("slurm"),
            On::Slurm(Some(partition)) => write!(f, "slurm:{partition}"),
        }
    }
}

/// The limits that an item keeps to by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ItemLimits {
    /// Seconds.
    pub seconds: Option<f64>,
    /// MiB.
    pub mib: Option<u64>,
}

/// What the scheduler is asked for, for one task.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// After so many seconds the scheduler may end it.
    pub seconds: Option<u64>,
    /// Beyond so much memory it may end it, in MiB.
    pub mib: Option<u64>,
    /// Cores.
    pub cores: u32,
    /// So many seconds after its start the task begins no further item.
    pub begin_until: Option<f64>,
}

/// What is wrong with a site file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSite(pub String);

impl Site {
    /// Looks whether the numbers make sense: margins only ever add.
    pub fn validate(&self) -> Result<(), BadSite> {
        let bad = |what: &str| Err(BadSite(what.to_owned()));
        if !(self.memory_factor >= 1.0 && self.memory_factor.is_finite()) {
            return bad("`memory_factor` is at least 1: else the scheduler kills what is allowed");
        }
        if !(self.time_factor >= 1.0 && self.time_factor.is_finite()) {
            return bad("`time_factor` is at least 1: else the scheduler kills what is allowed");
        }
        if !(self.time_margin >= 0.0 && self.time_margin.is_finite()) {
            return bad("`time_margin` is a number of seconds");
        }
        if self.cores == 0 || self.tries == 0 || self.workers == Some(0) {
            return bad("`cores`, `tries` and `workers` are at least 1");
        }
        let positive = |seconds: Option<f64>| seconds.is_none_or(|s| s > 0.0 && s.is_finite());
        match positive(self.time) && positive(self.pack) {
            true => Ok(()),
            false => bad("`time` and `pack` are numbers of seconds"),
        }
    }

    /// What to ask for, for tasks of which the largest may take so many seconds.
    ///
    /// An item that begins before `begin_until` has ended by itself, at the latest ended from
    /// outside, before the scheduler's time is over.
    pub fn request(&self, limits: ItemLimits, expected: f64) -> Request {
        let last = limits.seconds.map(|limit| limit + GRACE + self.time_margin);
        let (seconds, begin_until) = match (last, self.time) {
            (Some(last), _) => {
                let before = (expected.max(0.0) * self.time_factor).ceil();
                (Some(before + last), Some(before))
            }
            (None, Some(time)) => (Some(time), None),
            (None, None) => (None, None),
        };
        let mib = match limits.mib {
            // The guard ends what holds half as much again and 256 MiB more.
            Some(mib) => {
                let ended = mib.saturating_add(mib / 2).saturating_add(256);
                let asked = (mib as f64 * self.memory_factor).ceil() as u64;
                Some(asked.max(ended).saturating_add(self.memory_margin))
            }
            None => self.memory,
        };
        Request {
            seconds: seconds.map(|seconds| seconds.ceil() as u64),
            mib,
            cores: self.cores,
            begin_until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheduler_is_always_later_than_the_tool() {
        let site = Site::default();
        for limit in [0.5, 10.0, 900.0] {
            for expected in [0.0, 3.0, 1e4] {
                let limits = ItemLimits {
                    seconds: Some(limit),
                    mib: Some(2000),
                };
                let asked = site.request(limits, expected);
                let begin = asked.begin_until.expect("there is a limit");
                assert!(begin >= expected, "what is expected can be begun");
                let ended = begin + limit + GRACE;
                assert!(asked.seconds.expect("asked") as f64 > ended);
                // Half as much again and 256 MiB: then the guard has ended it.
                assert!(asked.mib.expect("asked") > 3000 + 256);
            }
        }
    }

    #[test]
    fn without_limits_the_site_says_what_is_asked_for() {
        let site = Site {
            time: Some(3600.0),
            memory: Some(4000),
            ..Site::default()
        };
        let asked = site.request(ItemLimits::default(), 10.0);
        assert_eq!((asked.seconds, asked.mib), (Some(3600), Some(4000)));
        let asked = Site::default().request(ItemLimits::default(), 10.0);
        assert_eq!((asked.seconds, asked.mib), (None, None));
    }

    #[test]
    fn places_are_read_as_they_are_shown() {
        for text in ["local", "hq", "hq:/home/me/hq", "slurm", "slurm:long"] {
            assert_eq!(On::parse(text).expect("a place").to_string(), text);
        }
        for text in ["", "pbs", "local:1", "hq:", "slurm:"] {
            assert!(On::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn margins_only_add() {
        assert_eq!(Site::default().validate(), Ok(()));
        let less = Site {
            time_factor: 0.5,
            ..Site::default()
        };
        assert!(less.validate().is_err());
        let none = Site {
            tries: 0,
            ..Site::default()
        };
        assert!(none.validate().is_err());
        let odd = Site {
            memory_factor: f64::NAN,
            ..Site::default()
        };
        assert!(odd.validate().is_err());
    }
}
