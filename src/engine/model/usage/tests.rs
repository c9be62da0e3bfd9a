use super::*;
use crate::engine::model::json;

#[test]
fn cached_tokens_are_priced_apart_from_fresh_ones() {
    let price = Price {
        input_nano_usd: 3000,
        output_nano_usd: 15000,
        cache_read_nano_usd: Some(300),
        cache_write_nano_usd: Some(3750),
        cache_write_hour_nano_usd: Some(6000),
        ..Price::default()
    };
    let usage = Usage {
        input_tokens: 100,
        output_tokens: 10,
        cache_read_tokens: 60,
        cache_write_tokens: 30,
        cache_write_hour_tokens: 20,
        reasoning_tokens: 4,
        ..Usage::default()
    };
    assert_eq!(
        price.cost_nano_usd(&usage, Terms::default()),
        10 * 3000 + 60 * 300 + 10 * 3750 + 20 * 6000 + 10 * 15000
    );
}

#[test]
fn a_long_prompt_is_dearer_as_a_whole() {
    let price = Price {
        input_nano_usd: 10,
        output_nano_usd: 20,
        cache_read_nano_usd: Some(1),
        long_above_tokens: Some(100),
        long_input_percent: Some(200),
        long_output_percent: Some(150),
        ..Price::default()
    };
    let cost = |input_tokens: u64| {
        let usage = Usage {
            input_tokens,
            cache_read_tokens: 50,
            output_tokens: 4,
            ..Usage::default()
        };
        price.cost_nano_usd(&usage, Terms::default())
    };
    assert_eq!((cost(100), cost(101)), (50 + 500 + 80, (50 + 510) * 2 + 120));
}

#[test]
fn the_terms_of_a_call_multiply_its_whole_cost() {
    let price = Price {
        input_nano_usd: 10,
        output_nano_usd: 20,
        long_above_tokens: Some(100),
        long_input_percent: Some(200),
        batch_percent: Some(50),
        fast_percent: Some(200),
        us_percent: Some(110),
        ..Price::default()
    };
    let usage = Usage {
        input_tokens: 200,
        output_tokens: 5,
        ..Usage::default()
    };
    let cost = |tier, is_fast, is_us| price.cost_nano_usd(&usage, Terms { tier, is_fast, is_us });
    let whole = 200 * 10 * 2 + 5 * 20;
    assert_eq!(cost(None, false, false), whole);
    assert_eq!(cost(Some(Tier::Batch), false, false), whole / 2);
    assert_eq!(cost(Some(Tier::Flex), false, false), whole, "no factor");
    assert_eq!(cost(None, true, true), whole * 2 * 110 / 100);
    let words = [
        "flex",
        "ON_DEMAND_FLEX",
        "PRIORITY",
        "fast",
        "batch",
        "default",
        "",
    ]
    .map(Tier::read);
    let (flex, priority) = (Some(Tier::Flex), Some(Tier::Priority));
    assert_eq!(
        words,
        [flex, flex, priority, priority, Some(Tier::Batch), None, None]
    );
}

fn call(output_tokens: u64, cost_nano_usd: Option<u64>) -> Usage {
    Usage {
        output_tokens,
        cost_nano_usd,
        ..Usage::default()
    }
}

#[test]
fn what_the_vendor_charged_wins_over_the_price() {
    let price = Price {
        output_nano_usd: 2,
        ..Price::default()
    };
    let priced = call(5, None).priced(Some(&price), Terms::default());
    assert_eq!((priced.cost_nano_usd, priced.is_cost_reported), (Some(10), false));
    let reported = call(5, Some(7)).priced(Some(&price), Terms::default());
    assert_eq!(
        (reported.cost_nano_usd, reported.is_cost_reported),
        (Some(7), true)
    );
    assert_eq!(call(5, None).priced(None, Terms::default()).cost_nano_usd, None);
}

#[test]
fn a_sum_is_known_when_each_part_is_and_reported_when_each_part_is() {
    let sum = |calls: &[Usage]| {
        let mut sum = Usage::default();
        calls.iter().for_each(|call| sum.add(call));
        (sum.cost_nano_usd, sum.is_cost_reported, sum.output_tokens)
    };
    let (reported, unknown) = (
        call(1, Some(3)).priced(None, Terms::default()),
        call(1, None).priced(None, Terms::default()),
    );
    let price = Price {
        output_nano_usd: 2,
        ..Price::default()
    };
    let priced = call(1, None).priced(Some(&price), Terms::default());
    let nothing = Usage::default();
    assert_eq!(sum(&[reported, nothing, reported]), (Some(6), true, 2));
    assert_eq!(sum(&[nothing, priced, reported]), (Some(5), false, 2));
    assert_eq!(sum(&[reported, unknown]), (None, false, 2));
    assert_eq!(sum(&[unknown, reported]), (None, false, 2));
    assert_eq!(sum(&[]), (None, false, 0));
}

#[test]
fn decimals_are_shifted_exactly_and_rounded_at_the_end() {
    let rows = [
        ("0.0000702", 9, Some(70_200)),
        ("1.7e-05", 9, Some(17_000)),
        ("12", 9, Some(12_000_000_000)),
        ("1E2", 0, Some(100)),
        ("9249500", -1, Some(924_950)),
        ("15", -1, Some(2)),
        ("14", -1, Some(1)),
        ("0.00000000049", 9, Some(0)),
        ("0.00000000050", 9, Some(1)),
        ("0.12345678901234567890123456789", 9, Some(123_456_789)),
        ("1e-400", 9, Some(0)),
        ("0", 400, Some(0)),
        ("1e400", 9, None),
        ("99999999999999999999", 0, None),
        ("-1", 9, None),
        ("", 9, None),
        ("1x", 9, None),
        ("{}", 9, None),
    ];
    for (text, shift, expected) in rows {
        assert_eq!(shifted(text, shift), expected, "{text}");
    }
}

#[test]
fn a_usage_without_its_zeros_reads_as_before() {
    #[derive(Serialize)]
    struct Sparse(#[serde(serialize_with = "sparse::counts")] Usage);
    let texts = [
        ("{}", Usage::default()),
        (
            r#"{"inputTokens":3,"costNanoUsd":0}"#,
            Usage {
                input_tokens: 3,
                cost_nano_usd: Some(0),
                ..Usage::default()
            },
        ),
        (
            r#"{"inputTokens":1,"outputTokens":2,"cacheReadTokens":3,"cacheWriteTokens":4,"cacheWriteHourTokens":5,"reasoningTokens":6,"audioInputTokens":7,"audioOutputTokens":8,"costNanoUsd":9,"isCostReported":true}"#,
            Usage {
                input_tokens: 1,
                output_tokens: 2,
                cache_read_tokens: 3,
                cache_write_tokens: 4,
                cache_write_hour_tokens: 5,
                reasoning_tokens: 6,
                audio_input_tokens: 7,
                audio_output_tokens: 8,
                cost_nano_usd: Some(9),
                is_cost_reported: true,
            },
        ),
    ];
    for (text, usage) in texts {
        assert_eq!(json::write(&Sparse(usage)), text);
        assert_eq!(json::read::<Usage>("usage", text).unwrap(), usage);
    }
}
