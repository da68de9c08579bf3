package sqlstream.operators;

/** Marks operators that are told the watermark, and have timers on it. */
interface AwaitsTime {}
