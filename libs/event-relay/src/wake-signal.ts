/** Wakes one sleeper. A signal that is set while nobody sleeps wakes the next sleeper at once. */
export class WakeSignal {
  private isSet = false;
  private wake: (() => void) | undefined;

  set(): void {
    if (this.wake) this.wake();
    else this.isSet = true;
  }

  /** Resolves when the signal is set, or when the time is over. */
  async sleep(milliseconds: number): Promise<void> {
    if (!this.isSet) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.wake = undefined;
    }
    this.isSet = false;
  }
}
