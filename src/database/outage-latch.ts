/** A state that is reported when it begins and when it ends, not for each request that meets it. */
export class OutageLatch {
  private isOn = false;
  /** On the clock of `performance`. */
  private changedAt = -Infinity;

  constructor(
    private readonly tell: { readonly begin: (reason: string) => void; readonly end: () => void },
  ) {}

  /**
   * Notes that something, begun at `since`, has met the state. Ignored if it began before the last change of the state.
   */
  begin(since: number, reason: string): void {
    if (this.change(true, since)) this.tell.begin(reason);
  }

  /** Notes that something, begun at `since`, has not met the state. */
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
