/** Reports an outage when it begins and when it ends, not for each operation that fails. */
export class OutageLatch {
  private isOn = false;
  /** The time of the last change (`performance.now()`). */
  private changedAt = -Infinity;

  constructor(
    private readonly report: { readonly begin: (reason: string) => void; readonly end: () => void },
  ) {}

  /** Records a failed operation. Ignored if it started before the last change. */
  begin(since: number, reason: string): void {
    if (this.change(true, since)) this.report.begin(reason);
  }

  /** Records that an operation that started at `since` succeeded. */
  end(since: number): void {
    if (this.change(false, since)) this.report.end();
  }

  private change(isOn: boolean, since: number): boolean {
    if (this.isOn === isOn || since < this.changedAt) return false;
    this.isOn = isOn;
    this.changedAt = performance.now();
    return true;
  }
}
