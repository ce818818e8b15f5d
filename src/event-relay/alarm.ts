/** Rouses one sleeper. A ring that meets nobody rouses the next one at once. */
export class Alarm {
  private isRinging = false;
  private rouse: (() => void) | undefined;

  ring(): void {
    if (this.rouse) this.rouse();
    else this.isRinging = true;
  }

  /** Resolves at the next ring, at the latest after so many milliseconds. */
  async sleep(milliseconds: number): Promise<void> {
    if (!this.isRinging) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.rouse = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.rouse = undefined;
    }
    this.isRinging = false;
  }
}
