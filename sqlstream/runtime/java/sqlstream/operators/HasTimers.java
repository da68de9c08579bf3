package sqlstream.operators;

/** Marks operators that know the watermark and have timers on it. */
interface HasTimers {}
