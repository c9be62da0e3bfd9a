;; Puts the engine's WebAssembly together from the runs of bytes that `scripts/lib/pack-wasm.mjs` has sorted by what they
;; mean. WebAssembly itself, because it runs once, at the first run of a page, where JavaScript is not optimised yet.
;;
;; Before `join` is called: at 256 the lengths of 14 runs, 32 bits each; at 312 the runs, one behind the other; at `out`
;; room for what comes of it. The runs are: 0 all before the first function; 1 the locals of functions; 2 opcodes and
;; what is in no other run; 3 constants, 4 those that are added or subtracted, 5 those that something is compared with;
;; 6 and 7 the low and high bytes of addresses; 8 indices of locals; 9 callees; 10 labels; 11 offsets of loads, 12 of
;; stores; 13 all behind the last function. Lengths become places as the runs are read.
;;
;; In run 2 stand, besides opcodes: 0xc5 for local.get of the local that was the last one, 0xc6 for that of the one before;
;; 0xc7 and 0xc8 for i32.const 0 and 1; 0xc9 for i32.const of an address; 0xca before an opcode whose first immediate
;; follows it, because it is not the usual one (an empty type of a block, global 0, the natural alignment).
(module
  (memory (export "memory") 1)
  (global $at (mut i32) (i32.const 0))
  (global $value (mut i32) (i32.const 0))

  ;; What follows the opcodes up to 0x44, the usual immediates excepted: 16 × how many numbers of run 2, plus the run of
  ;; one more number, or 0. 0xff for what is looked at below.
  ;; https://webassembly.github.io/spec/core/binary/instructions.html (2026-11-21)
  (data (i32.const 0)
    "\00\00\00\00\00\00\00\10\10\10\00\00\0a\0a\ff\00"
    "\09\20\00\00\00\00\00\00\10\00\00\00\ff\00\00\00"
    "\08\08\08\00\00\10\10\00\0b\0b\0b\0b\0b\0b\0b\0b"
    "\0b\0b\0b\0b\0b\0b\0c\0c\0c\0c\0c\0c\0c\0c\0c\10"
    "\10\03\03\ff\ff")

  ;; The usual first immediates of the opcodes up to 0x3e, plus one; 0 for those without.
  (data (i32.const 128)
    "\00\00\41\41\41\00\41\00\00\00\00\00\00\00\00\00"
    "\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00"
    "\00\00\00\01\01\00\00\00\03\04\03\04\01\01\02\02"
    "\01\01\02\02\03\03\03\04\03\04\01\02\01\02\03")

  (func $place (param $run i32) (result i32)
    (i32.load offset=256 (i32.shl (local.get $run) (i32.const 2))))

  (func $move (param $run i32) (param $place i32)
    (i32.store offset=256 (i32.shl (local.get $run) (i32.const 2)) (local.get $place)))

  ;; The next byte of a run.
  (func $next (param $run i32) (result i32)
    (local $from i32)
    (local.set $from (call $place (local.get $run)))
    (call $move (local.get $run) (i32.add (local.get $from) (i32.const 1)))
    (i32.load8_u (local.get $from)))

  (func $write (param $byte i32)
    (i32.store8 (global.get $at) (local.get $byte))
    (global.set $at (i32.add (global.get $at) (i32.const 1))))

  ;; Writes `$number` in LEB128.
  (func $number (param $number i32)
    (loop $digit
      (if (i32.gt_u (local.get $number) (i32.const 127))
        (then
          (call $write (i32.or (local.get $number) (i32.const 128)))
          (local.set $number (i32.shr_u (local.get $number) (i32.const 7)))
          (br $digit))))
    (call $write (local.get $number)))

  ;; Copies bytes of a run.
  (func $bytes (param $run i32) (param $count i32)
    (local $from i32)
    (memory.copy (global.get $at) (local.tee $from (call $place (local.get $run))) (local.get $count))
    (global.set $at (i32.add (global.get $at) (local.get $count)))
    (call $move (local.get $run) (i32.add (local.get $from) (local.get $count))))

  ;; Copies numbers of a run, in LEB128; `$value` is the last one.
  (func $numbers (param $run i32) (param $count i32)
    (local $from i32) (local $byte i32) (local $shift i32)
    (local.set $from (call $place (local.get $run)))
    (loop $each
      (if (local.get $count)
        (then
          (local.set $count (i32.sub (local.get $count) (i32.const 1)))
          (global.set $value (i32.const 0))
          (local.set $shift (i32.const 0))
          (loop $digit
            (call $write (local.tee $byte (i32.load8_u (local.get $from))))
            (global.set $value (i32.or (global.get $value)
              (i32.shl (i32.and (local.get $byte) (i32.const 127)) (local.get $shift))))
            (local.set $shift (i32.add (local.get $shift) (i32.const 7)))
            (local.set $from (i32.add (local.get $from) (i32.const 1)))
            (br_if $digit (i32.gt_u (local.get $byte) (i32.const 127))))
          (br $each))))
    (call $move (local.get $run) (local.get $from)))

  ;; Writes at `$out`, `$length` bytes.
  (func (export "join") (param $out i32) (param $length i32)
    (local $run i32) (local $place i32) (local $after i32) (local $before i32) (local $start i32) (local $code i32)
    (local $kind i32) (local $usual i32) (local $depth i32) (local $last i32) (local $second i32) (local $isUsual i32)
    (local.set $before (call $place (i32.const 0)))
    (local.set $after (call $place (i32.const 13)))
    (local.set $place (i32.const 312))
    (loop $each
      (local.set $kind (call $place (local.get $run)))
      (call $move (local.get $run) (local.get $place))
      (local.set $place (i32.add (local.get $place) (local.get $kind)))
      (br_if $each (i32.lt_u (local.tee $run (i32.add (local.get $run) (i32.const 1))) (i32.const 14))))
    (global.set $at (local.get $out))
    (call $bytes (i32.const 0) (local.get $before))
    (local.set $length (i32.sub (i32.add (local.get $out) (local.get $length)) (local.get $after)))
    (loop $function
      (if (i32.lt_u (global.get $at) (local.get $length))
        (then
          ;; Its size is known when it has ended: it makes room.
          (local.set $start (global.get $at))
          (global.set $at (i32.add (local.get $start) (i32.const 5)))
          (call $numbers (i32.const 1) (i32.const 1))
          (call $numbers (i32.const 1) (i32.shl (global.get $value) (i32.const 1)))
          (local.set $depth (i32.const 1))
          (local.set $last (i32.const -1))
          (local.set $second (i32.const -1))
          (loop $instruction
            (if (local.get $depth)
              (then
                (local.set $code (call $next (i32.const 2)))
                (if (i32.lt_u (i32.sub (local.get $code) (i32.const 0xc5)) (i32.const 2))
                  (then
                    (if (i32.eq (local.get $code) (i32.const 0xc6))
                      (then
                        (local.set $place (local.get $last))
                        (local.set $last (local.get $second))
                        (local.set $second (local.get $place))))
                    (call $write (i32.const 0x20))
                    (call $number (local.get $last))
                    (br $instruction)))
                (if (i32.lt_u (i32.sub (local.get $code) (i32.const 0xc7)) (i32.const 2))
                  (then
                    (call $write (i32.const 0x41))
                    (call $write (i32.sub (local.get $code) (i32.const 0xc7)))
                    (br $instruction)))
                (if (i32.eq (local.get $code) (i32.const 0xc9))
                  (then
                    (call $write (i32.const 0x41))
                    (local.set $place (call $next (i32.const 6)))
                    (local.set $place (i32.or (i32.or (local.get $place) (i32.const 0x100000))
                      (i32.shl (call $next (i32.const 7)) (i32.const 8))))
                    ;; With a sign, it takes four bytes.
                    (call $number (i32.or (local.get $place) (i32.const 0x200000)))
                    (i32.store8 (i32.sub (global.get $at) (i32.const 1)) (i32.const 0))
                    (br $instruction)))
                (if (i32.eqz (local.tee $isUsual (i32.ne (local.get $code) (i32.const 0xca))))
                  (then (local.set $code (call $next (i32.const 2)))))
                (call $write (local.get $code))
                (local.set $kind (i32.load8_u (local.get $code)))
                (local.set $usual (i32.const 0))
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
                                  (i32.gt_u (global.get $value) (i32.const 15))))))))))
                  (else
                    (local.set $usual (i32.load8_u offset=128 (local.get $code)))))
                (if (local.get $usual)
                  (then
                    (if (local.get $isUsual)
                      (then (call $write (i32.sub (local.get $usual) (i32.const 1))))
                      (else (call $numbers (i32.const 2) (i32.const 1))))))
                ;; What opens a block, and what ends one.
                (local.set $depth (i32.sub
                  (i32.add (local.get $depth) (i32.eq (local.get $usual) (i32.const 0x41)))
                  (i32.or (i32.eq (local.get $code) (i32.const 0x0b)) (i32.eq (local.get $code) (i32.const 0x18)))))
                (if (i32.eq (local.get $kind) (i32.const 0xff))
                  (then
                    (local.set $kind (i32.const 0))
                    (if (i32.eq (local.get $code) (i32.const 0x0e))
                      (then
                        (call $numbers (i32.const 10) (i32.const 1))
                        (call $numbers (i32.const 10) (i32.add (global.get $value) (i32.const 1))))
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
                  (then
                    (if (i32.eq (local.get $kind) (i32.const 3))
                      (then
                        (local.set $place (i32.load8_u (call $place (i32.const 2))))
                        (local.set $kind
                          (select (i32.const 4)
                            (select (i32.const 5) (i32.const 3)
                              (i32.lt_u (i32.sub (local.get $place) (i32.const 0x45)) (i32.const 0x16)))
                            (i32.eq (i32.or (local.get $place) (i32.const 1)) (i32.const 0x6b))))))
                    (call $numbers (local.get $kind) (i32.const 1))
                    (if (i32.and (i32.eq (local.get $kind) (i32.const 8))
                          (i32.ne (global.get $value) (local.get $last)))
                      (then
                        (local.set $second (local.get $last))
                        (local.set $last (global.get $value))))))
                (br $instruction))))
          (local.set $place (i32.add (local.get $start) (i32.const 5)))
          (local.set $kind (i32.sub (global.get $at) (local.get $place)))
          (global.set $at (local.get $start))
          (call $number (local.get $kind))
          (memory.copy (global.get $at) (local.get $place) (local.get $kind))
          (global.set $at (i32.add (global.get $at) (local.get $kind)))
          (br $function))))
    (call $bytes (i32.const 13) (local.get $after))))
