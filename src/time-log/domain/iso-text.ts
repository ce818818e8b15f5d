const DAY = 86_400_000;
const padded = (length: number, digits: number) =>
  Array.from({ length }, (_, number) => String(number).padStart(digits, '0'));
const SECONDS = padded(60, 2);
/** Hours and minutes of each minute of a day. */
const MINUTES = padded(24, 2).flatMap((hour) => SECONDS.map((minute) => `${hour}:${minute}:`));
const THOUSANDTHS = padded(1_000, 3);

let day = NaN;
/** Of that day, up to the `T`. */
let start = '';

/**
 * The text that `Date.toISOString` gives for milliseconds since 1970, in a fifth of its time: the instants of a page
 * are of few days, and only the time of day is looked up for each.
 */
export function isoText(milliseconds: number): string {
  const itsDay = Math.floor(milliseconds / DAY);
  if (itsDay !== day) {
    start = new Date(milliseconds).toISOString().slice(0, -13);
    day = itsDay;
  }
  const time = milliseconds - itsDay * DAY;
  const seconds = Math.floor(time / 1_000);
  const minutes = Math.floor(seconds / 60);
  return `${start}${MINUTES[minutes]}${SECONDS[seconds % 60]}.${THOUSANDTHS[time % 1_000]}Z`;
}
