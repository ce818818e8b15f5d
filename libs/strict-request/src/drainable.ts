/** Work that must end before the app closes. A provider only has to extend this class: the edge finds it. */
export abstract class Drainable {
  /** Takes no more work, and resolves when the last of it has ended. Every call returns the same. */
  abstract drain(): Promise<void>;
}
