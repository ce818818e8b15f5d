import { EventSink } from '../../src/event-relay/index.js';
import type { CloudEvent } from '../../src/feed/index.js';
import { expectDescribedEvent } from '../support/documented.js';
import { newGate, type Gate } from '../support/gate.js';

/** Keeps events in memory, and notes how they come. */
export class MemorySink extends EventSink {
  readonly name = 'memory';
  override readonly retryDelays = { first: 10, longest: 40 };
  /** Every event that was acknowledged, repeats included. */
  readonly kept: CloudEvent[] = [];
  /** The most events at a time, of one project and in all. */
  most = { ofProject: 0, inAll: 0 };
  connections = 0;
  closed = 0;
  /** Why it takes nothing at the moment. */
  fault: string | undefined;
  /** Holds up the events of a project until it is opened. */
  held: { readonly projectId: string; readonly gate: Gate } | undefined;
  private readonly underWay = new Map<string, number>();

  override async connect(): Promise<void> {
    this.connections++;
  }

  override async publish(event: CloudEvent): Promise<void> {
    expectDescribedEvent(event);
    const { subject } = event;
    const ofProject = (this.underWay.get(subject) ?? 0) + 1;
    this.underWay.set(subject, ofProject);
    const inAll = [...this.underWay.values()].reduce((sum, count) => sum + count, 0);
    this.most = {
      ofProject: Math.max(this.most.ofProject, ofProject),
      inAll: Math.max(this.most.inAll, inAll),
    };
    try {
      const isHeld = this.held?.projectId === subject;
      if (isHeld) await this.held!.gate.opened;
      // Acknowledgements come in another order than the events.
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
      if (this.fault !== undefined && !isHeld) throw new Error(this.fault);
      this.kept.push(event);
    } finally {
      this.underWay.set(subject, this.underWay.get(subject)! - 1);
    }
  }

  override async close(): Promise<void> {
    this.closed++;
  }

  /** From now on the events of a project wait; when the gate is open it takes them, whatever the fault. */
  hold(projectId: string): Gate {
    this.held = { projectId, gate: newGate() };
    return this.held.gate;
  }
}
