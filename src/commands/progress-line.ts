/** The time before the first output, which a short action does not need, and between updates. */
const INTERVAL_MS = 2_000;
const ERASE_LINE = '\r\x1b[K';

/** The part of `process.stderr` that is used here. */
interface OutputStream {
  readonly isTTY?: boolean | undefined;
  write(text: string): boolean;
}

/** Shows what takes longer than two seconds, in one line, which a terminal rewrites. */
export class ProgressLine {
  private text = '';
  private timer: NodeJS.Timeout | undefined;
  private readonly startedAt = performance.now();

  constructor(private readonly stream: OutputStream) {}

  /** Sets the text to show. It may be called at any rate: the next update shows the latest text. */
  show(text: string): void {
    this.text = text;
    this.timer ??= setInterval(() => {
      if (this.stream.isTTY) {
        this.stream.write(ERASE_LINE + this.line(this.text));
        return;
      }
      this.printLine(this.text);
      clearInterval(this.timer);
    }, INTERVAL_MS).unref();
  }

  /** Writes a line that is not rewritten. */
  printLine(text: string): void {
    if (this.stream.isTTY) this.stream.write(ERASE_LINE);
    this.stream.write(`${this.line(text)}\n`);
  }

  /** Stops the updates and removes the line, so that other output can follow. */
  end(): void {
    clearInterval(this.timer);
    if (this.timer && this.stream.isTTY) this.stream.write(ERASE_LINE);
    this.timer = undefined;
  }

  private line(text: string): string {
    const seconds = Math.round((performance.now() - this.startedAt) / 1_000);
    return `${String(seconds).padStart(5)} s  ${text}`;
  }
}
