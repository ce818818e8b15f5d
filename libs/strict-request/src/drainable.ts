/** A provider whose work must end before the app closes. A shutdown finds all subclasses. */
export abstract class Drainable {
  /** Accepts no more work. Resolves when all has ended. Each call returns the same promise. */
  abstract drain(): Promise<void>;
}
