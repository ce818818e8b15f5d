/** Milliseconds before the first word, for what is over sooner needs none, and between two. */
const AT_TERMINAL = { first: 2_000, pause: 200 };
const ELSEWHERE = { first: 5_000, pause: 5_000 };

const ERASE = '\r\x1b[K';
/** Columns of a terminal that does not tell. */
const NARROW = 80;

/** Such as `process.stderr`. */
interface Stream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): boolean;
}

/** Says how far something is, and since when: at a terminal in one line that is rewritten, elsewhere now and then. */
export class ProgressLine {
  #text = '';
  #timer: NodeJS.Timeout | undefined;
  #isThere = false;
  readonly #startedAt = performance.now();
  readonly #rhythm: typeof AT_TERMINAL;

  constructor(private readonly stream: Stream) {
    this.#rhythm = stream.isTTY ? AT_TERMINAL : ELSEWHERE;
  }

  /** Tells what is under way from now on. May be called as often as one likes: a text that comes too early waits. */
  show(text: string): void {
    this.#text = text;
    this.#timer ??= setTimeout(() => this.#write(), this.#rhythm.first).unref();
  }

  /** Writes a line that stays. */
  note(text: string): void {
    this.#erase();
    this.stream.write(`${this.#line(text)}\n`);
  }

  /** Nothing is under way any more: stderr is free for others. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#erase();
  }

  #write(): void {
    const line = this.#line(this.#text);
    const { isTTY, columns = 0 } = this.stream;
    if (isTTY) {
      this.stream.write(`${ERASE}${line.slice(0, (columns > 0 ? columns : NARROW) - 1)}`);
      this.#isThere = true;
    } else this.stream.write(`${line}\n`);
    this.#timer = setTimeout(() => this.#write(), this.#rhythm.pause).unref();
  }

  #erase(): void {
    if (this.#isThere) this.stream.write(ERASE);
    this.#isThere = false;
  }

  #line(text: string): string {
    const seconds = Math.round((performance.now() - this.#startedAt) / 1_000);
    return `${String(seconds).padStart(5)} s  ${text}`;
  }
}
