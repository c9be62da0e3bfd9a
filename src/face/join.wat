;; Puts the engine's WebAssembly together from the runs of bytes that `scripts/lib/pack-wasm.mjs` has sorted by what they
;; mean. WebAssembly itself, because it runs once, at the first run of a page, where JavaScript is not optimised yet.
;;
;; Before `join` is called: at 256 the lengths of nine runs, 32 bits each; at 292 the runs, one behind the other; at
;; `out` room for what comes of it. The runs are: 0 all before the first function; 1 the sizes and locals of functions;
;; 2 opcodes and what is in no other run; 3 constants; 4 indices of locals; 5 callees; 6 labels; 7 offsets in memory;
;; 8 all behind the last function. Lengths become places as the runs are read.
(module
  (memory (export "memory") 1)
  (global $at (mut i32) (i32.const 0))
  (global $value (mut i32) (i32.const 0))

  ;; What follows the opcodes up to 0x44: 16 × how many numbers of run 2, plus the run of one more number, or 0. 0xff for
  ;; what is looked at below. https://webassembly.github.io/spec/core/binary/instructions.html (2026-11-21)
  (data (i32.const 0)
    "\00\00\10\10\10\00\10\10\10\10\00\00\06\06\ff\00"
    "\05\20\00\00\00\00\00\00\10\00\00\00\ff\00\00\00"
    "\04\04\04\10\10\10\10\00\17\17\17\17\17\17\17\17"
    "\17\17\17\17\17\17\17\17\17\17\17\17\17\17\17\10"
    "\10\03\03\ff\ff")

  ;; Copies bytes of a run.
  (func $bytes (param $run i32) (param $count i32)
    (local $from i32)
    (local.set $from (i32.load offset=256 (local.tee $run (i32.shl (local.get $run) (i32.const 2)))))
    (memory.copy (global.get $at) (local.get $from) (local.get $count))
    (global.set $at (i32.add (global.get $at) (local.get $count)))
    (i32.store offset=256 (local.get $run) (i32.add (local.get $from) (local.get $count))))

  ;; Copies numbers of a run, in LEB128; `$value` is the last one.
  (func $numbers (param $run i32) (param $count i32)
    (local $from i32) (local $to i32) (local $byte i32) (local $shift i32)
    (local.set $from (i32.load offset=256 (local.tee $run (i32.shl (local.get $run) (i32.const 2)))))
    (local.set $to (global.get $at))
    (loop $number
      (if (local.get $count)
        (then
          (local.set $count (i32.sub (local.get $count) (i32.const 1)))
          (global.set $value (i32.const 0))
          (local.set $shift (i32.const 0))
          (loop $digit
            (i32.store8 (local.get $to) (local.tee $byte (i32.load8_u (local.get $from))))
            (global.set $value (i32.or (global.get $value)
              (i32.shl (i32.and (local.get $byte) (i32.const 127)) (local.get $shift))))
            (local.set $shift (i32.add (local.get $shift) (i32.const 7)))
            (local.set $from (i32.add (local.get $from) (i32.const 1)))
            (local.set $to (i32.add (local.get $to) (i32.const 1)))
            (br_if $digit (i32.gt_u (local.get $byte) (i32.const 127))))
          (br $number))))
    (global.set $at (local.get $to))
    (i32.store offset=256 (local.get $run) (local.get $from)))

  ;; Writes at `$out`, `$length` bytes.
  (func (export "join") (param $out i32) (param $length i32)
    (local $run i32) (local $place i32) (local $after i32) (local $before i32) (local $end i32) (local $code i32)
    (local $kind i32)
    (local.set $before (i32.load offset=256 (i32.const 0)))
    (local.set $after (i32.load offset=288 (i32.const 0)))
    (local.set $place (i32.const 292))
    (loop $each
      (local.set $kind (i32.load offset=256 (local.get $run)))
      (i32.store offset=256 (local.get $run) (local.get $place))
      (local.set $place (i32.add (local.get $place) (local.get $kind)))
      (br_if $each (i32.le_u (local.tee $run (i32.add (local.get $run) (i32.const 4))) (i32.const 32))))
    (global.set $at (local.get $out))
    (call $bytes (i32.const 0) (local.get $before))
    (local.set $length (i32.sub (i32.add (local.get $out) (local.get $length)) (local.get $after)))
    (loop $function
      (if (i32.lt_u (global.get $at) (local.get $length))
        (then
          (call $numbers (i32.const 1) (i32.const 1))
          (local.set $end (i32.add (global.get $at) (global.get $value)))
          (call $numbers (i32.const 1) (i32.const 1))
          (call $numbers (i32.const 1) (i32.shl (global.get $value) (i32.const 1)))
          (loop $instruction
            (if (i32.lt_u (global.get $at) (local.get $end))
              (then
                (local.set $code (i32.load8_u (i32.load offset=264 (i32.const 0))))
                (call $bytes (i32.const 2) (i32.const 1))
                (local.set $kind (i32.load8_u (local.get $code)))
                (if (i32.gt_u (local.get $code) (i32.const 0x44))
                  (then
                    (local.set $kind (i32.shl (i32.or
                      (i32.eq (local.get $code) (i32.const 0xd0))
                      (i32.eq (local.get $code) (i32.const 0xd2))) (i32.const 4)))
                    (if (i32.eq (local.get $code) (i32.const 0xfc))
                      (then
                        (call $numbers (i32.const 2) (i32.const 1))
                        (if (i32.gt_u (global.get $value) (i32.const 7))
                          (then
                            (local.set $kind
                              (select (i32.const 0x10) (i32.const 0x20)
                                (i32.or (i32.and (global.get $value) (i32.const 1))
                                  (i32.gt_u (global.get $value) (i32.const 15)))))))))))
                (if (i32.eq (local.get $kind) (i32.const 0xff))
                  (then
                    (local.set $kind (i32.const 0))
                    (if (i32.eq (local.get $code) (i32.const 0x0e))
                      (then
                        (call $numbers (i32.const 6) (i32.const 1))
                        (call $numbers (i32.const 6) (i32.add (global.get $value) (i32.const 1))))
                      (else
                        (if (i32.eq (local.get $code) (i32.const 0x1c))
                          (then
                            (call $numbers (i32.const 2) (i32.const 1))
                            (call $bytes (i32.const 2) (global.get $value)))
                          (else
                            (call $bytes (i32.const 2)
                              (i32.shl (i32.const 4) (i32.eq (local.get $code) (i32.const 0x44))))))))))
                (if (i32.gt_u (local.get $kind) (i32.const 15))
                  (then (call $numbers (i32.const 2) (i32.shr_u (local.get $kind) (i32.const 4)))))
                (if (local.tee $kind (i32.and (local.get $kind) (i32.const 15)))
                  (then (call $numbers (local.get $kind) (i32.const 1))))
                (br $instruction))))
          (br $function))))
    (call $bytes (i32.const 8) (local.get $after))))
