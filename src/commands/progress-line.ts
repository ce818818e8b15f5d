/** The time before the first output, which a short action does not need, and between updates. */
const TERMINAL_TIMING = { delayMs: 2_000, intervalMs: 200 };
const FILE_TIMING = { delayMs: 5_000, intervalMs: 5_000 };

const ERASE_LINE = '\r\x1b[K';
/** The width of a terminal that does not report its own. */
const DEFAULT_COLUMNS = 80;

/** The part of `process.stderr` that is used here. */
interface OutputStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): boolean;
}

/** Shows progress and elapsed time. A terminal has one line that is rewritten. */
export class ProgressLine {
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  #isShown = false;
  readonly #startedAt = performance.now();
  readonly #timing: typeof TERMINAL_TIMING;

  constructor(private readonly stream: OutputStream) {
    this.#timing = stream.isTTY ? TERMINAL_TIMING : FILE_TIMING;
  }

  /** Sets the text to show. It may be called at any rate: the next update shows the latest text. */
  show(text: string): void {
    this.#text = text;
    this.#timer ??= setTimeout(() => this.#write(), this.#timing.delayMs).unref();
  }

  /** Writes a line that is not rewritten. */
  printLine(text: string): void {
    this.#erase();
    this.stream.write(`${this.#line(text)}\n`);
  }

  /** Stops the updates and removes the line, so that other output can follow. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#erase();
  }

  #write(): void {
    const line = this.#line(this.#text);
    const { isTTY, columns = 0 } = this.stream;
    if (isTTY) {
      this.stream.write(`${ERASE_LINE}${line.slice(0, (columns > 0 ? columns : DEFAULT_COLUMNS) - 1)}`);
      this.#isShown = true;
    } else this.stream.write(`${line}\n`);
    this.#timer = setTimeout(() => this.#write(), this.#timing.intervalMs).unref();
  }

  #erase(): void {
    if (this.#isShown) this.stream.write(ERASE_LINE);
    this.#isShown = false;
  }

  #line(text: string): string {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1_000);
    return `${String(seconds).padStart(5)} s  ${text}`;
  }
}
