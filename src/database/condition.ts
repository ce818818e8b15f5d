/** A state that is told when it begins and when it ends, not once for each request that meets it. */
export class Condition {
  private isOn = false;
  /** On the clock of `performance`. */
  private changedAt = -Infinity;

  constructor(
    private readonly tell: { readonly begin: (reason: string) => void; readonly end: () => void },
  ) {}

  /** Notes what met the state, and when it had begun: what began before the last change says nothing about what came after it. */
  begin(since: number, reason: string): void {
    if (this.change(true, since)) this.tell.begin(reason);
  }

  /** Notes what did not meet the state. */
  end(since: number): void {
    if (this.change(false, since)) this.tell.end();
  }

  private change(isOn: boolean, since: number): boolean {
    if (this.isOn === isOn || since < this.changedAt) return false;
    this.isOn = isOn;
    this.changedAt = performance.now();
    return true;
  }
}
