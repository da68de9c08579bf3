package sqlstream;

/** Marks operators that are told the watermark, and have timers on it. */
interface AwaitsTime {}
