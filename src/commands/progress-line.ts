/** The time before the first output, which a short action does not need, and between updates. */
const INTERVAL_MS = 2_000;

const ERASE_LINE = '\r\x1b[K';
/** The width of a terminal that does not report its own. */
const DEFAULT_COLUMNS = 80;

/** The part of `process.stderr` that is used here. */
interface OutputStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): boolean;
}

/** Shows what takes longer than two seconds, in one line, which a terminal rewrites. */
export class ProgressLine {
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  readonly #startedAt = performance.now();

  constructor(private readonly stream: OutputStream) {}

  /** Sets the text to show. It may be called at any rate: the next update shows the latest text. */
  show(text: string): void {
    this.#text = text;
    this.#timer ??= setInterval(() => this.#update(), INTERVAL_MS).unref();
  }

  /** Writes a line that is not rewritten. */
  printLine(text: string): void {
    this.#erase();
    this.stream.write(`${this.#line(text)}\n`);
  }

  /** Stops the updates and removes the line, so that other output can follow. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#timer) this.#erase();
    this.#timer = undefined;
  }

  #update(): void {
    const line = this.#line(this.#text);
    const { isTTY, columns = 0 } = this.stream;
    if (isTTY) {
      this.stream.write(ERASE_LINE + line.slice(0, (columns > 0 ? columns : DEFAULT_COLUMNS) - 1));
    } else {
      this.stream.write(`${line}\n`);
      clearInterval(this.#timer);
    }
  }

  #erase(): void {
    if (this.stream.isTTY) this.stream.write(ERASE_LINE);
  }

  #line(text: string): string {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1_000);
    return `${String(seconds).padStart(5)} s  ${text}`;
  }
}
