/** Where the answer to a request or message goes. */
export interface Outlet {
  /** Whether nobody is there any more. */
  isClosed(): boolean;
  /** Resolves when all that was handed over has left the process or is lost. */
  sent(): Promise<unknown>;
  /** Gives up what has not left yet. */
  close(): void;
}
