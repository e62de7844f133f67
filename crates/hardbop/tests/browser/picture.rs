//! A picture of a page, and what can be seen on it.

use std::collections::{BTreeMap, BTreeSet};

/// A picture.
pub struct Picture {
    /// The PNG file.
    pub file: Vec<u8>,
    width: usize,
    height: usize,
    /// The pixels, row by row.
    pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Decodes a PNG file in base 64.
    pub fn decode(text: &str) -> Picture {
        let file = data_encoding::BASE64
            .decode(text.as_bytes())
            .expect("base 64");
        let mut decoder = png::Decoder::new(std::io::Cursor::new(&file));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info().expect("a PNG file");
        let size = reader.output_buffer_size().expect("it fits into memory");
        let mut bytes = vec![0; size];
        let info = reader.next_frame(&mut bytes).expect("a whole picture");
        let channels = info.color_type.samples();
        let pixels = bytes[..info.buffer_size()]
            .chunks(channels)
            .map(|pixel| match *pixel {
                [red, green, blue, ..] => [red, green, blue],
                [grey, ..] => [grey; 3],
                [] => [0; 3],
            })
            .collect();
        let (width, height) = (info.width as usize, info.height as usize);
        Picture {
            file,
            width,
            height,
            pixels,
        }
    }

    /// How many colours there are.
    pub fn colours(&self) -> usize {
        self.pixels.iter().collect::<BTreeSet<_>>().len()
    }

    /// The colour of the page: that of the upper left corner.
    pub fn background(&self) -> [u8; 3] {
        self.pixels[0]
    }

    /// The colour that most pixels of an area have.
    pub fn most_common(&self, left: f64, top: f64, width: f64, height: f64) -> [u8; 3] {
        let counts = self.counts(left, top, width, height);
        let most = counts.into_iter().max_by_key(|&(_, count)| count);
        most.expect("the area is on the picture").0
    }

    /// The contrast between the most common colour of an area and the one that is most unlike it,
    /// as the Web Content Accessibility Guidelines define it.
    pub fn contrast(&self, left: f64, top: f64, width: f64, height: f64) -> f64 {
        let back = luminance(self.most_common(left, top, width, height));
        let counts = self.counts(left, top, width, height);
        counts
            .into_keys()
            .map(|colour| {
                let fore = luminance(colour);
                (back.max(fore) + 0.05) / (back.min(fore) + 0.05)
            })
            .fold(1.0, f64::max)
    }

    fn counts(&self, left: f64, top: f64, width: f64, height: f64) -> BTreeMap<[u8; 3], usize> {
        let columns = (left as usize)..((left + width) as usize).min(self.width);
        let rows = (top as usize)..((top + height) as usize).min(self.height);
        let mut counts = BTreeMap::new();
        for row in rows {
            for column in columns.clone() {
                *counts
                    .entry(self.pixels[row * self.width + column])
                    .or_default() += 1;
            }
        }
        counts
    }
}

/// The relative luminance of a colour.
fn luminance(colour: [u8; 3]) -> f64 {
    let [red, green, blue] = colour.map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}
