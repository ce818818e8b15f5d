import { drive, type Order } from './drive.js';

// A process of its own, so that its work shows in no measure of the others.
process.on('message', (order) => {
  void drive(order as Order).then(
    (outcome) => process.send!({ outcome }),
    (error: unknown) => process.send!({ fault: String(error) }),
  );
});
// Nobody is left who would want an outcome.
process.on('disconnect', () => process.exit());
// Ctrl-C in a terminal reaches every process of the group; the bench ends this one itself.
process.on('SIGINT', () => undefined);
