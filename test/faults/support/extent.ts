/** True in the full run (`npm run test:faults`); the pass inside `npm test` repeats less. */
export const isFull = process.env.FAULTS === 'full';
