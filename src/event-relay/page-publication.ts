import { cloudEventOf, type TimeLogEvent } from '../feed/index.js';
import type { EventSink } from './event-sink.js';

/** The maximum number of projects whose events are in flight, for a sink that is not pipelined. */
const MAX_PROJECTS_IN_FLIGHT = 16;

/** The publication of a page of the feed. When an event fails, only earlier events are still sent. */
export class PagePublication {
  private readonly isConfirmed: boolean[];
  private failedIndex = Infinity;
  private error: unknown;

  /** `mayPublish` returns whether an event may be sent now. `source` is that of the events. */
  constructor(
    private readonly events: readonly TimeLogEvent[],
    private readonly sink: EventSink,
    private readonly source: string,
    private readonly mayPublish: () => boolean,
  ) {
    this.isConfirmed = events.map(() => false);
  }

  /** Publishes the events. Resolves when none is in flight. */
  async run(): Promise<void> {
    if (this.sink.isPipelined) {
      await Promise.all(this.events.map((_, index) => this.publish(index)));
      return;
    }
    const projects = this.indexesByProject().values();
    const publishProjects = async () => {
      for (const indexes of projects) for (const index of indexes) await this.publish(index);
    };
    await Promise.all(Array.from({ length: MAX_PROJECTS_IN_FLIGHT }, publishProjects));
  }

  /** The number of events before the first that is not confirmed. */
  get confirmedCount(): number {
    const index = this.isConfirmed.indexOf(false);
    return index === -1 ? this.events.length : index;
  }

  /** The event that failed, and why, if all before it are confirmed. */
  get failure(): { readonly event: TimeLogEvent; readonly error: unknown } | undefined {
    if (this.failedIndex !== this.confirmedCount) return undefined;
    return { event: this.events[this.failedIndex]!, error: this.error };
  }

  private indexesByProject(): Map<string, number[]> {
    const indexes = new Map<string, number[]>();
    for (const [index, { log }] of this.events.entries()) {
      const ofProject = indexes.get(log.projectId);
      if (ofProject) ofProject.push(index);
      else indexes.set(log.projectId, [index]);
    }
    return indexes;
  }

  private async publish(index: number): Promise<void> {
    if (index > this.failedIndex || this.sink.isStopped || !this.mayPublish()) return;
    try {
      await this.sink.publish(cloudEventOf(this.events[index]!, this.source));
      this.isConfirmed[index] = true;
    } catch (error) {
      if (index > this.failedIndex) return;
      this.failedIndex = index;
      this.error = error;
    }
  }
}
