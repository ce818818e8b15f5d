import { afterAll, beforeAll, jest } from '@jest/globals';

/**
 * Moves the clocks of the service from the first test of a file to its last. Only `advance` moves the time of day;
 * `performance.now` runs too.
 */
export function useClock(): { advance: (milliseconds: number) => void } {
  const { Date: ServiceDate, performance } = serviceGlobal;
  let ahead = 0;
  beforeAll(() => {
    const [begun, elapsed] = [ServiceDate.now(), performance.now.bind(performance)];
    jest.spyOn(ServiceDate, 'now').mockImplementation(() => begun + ahead);
    jest.spyOn(performance, 'now').mockImplementation(() => elapsed() + ahead);
  });
  afterAll(() => {
    jest.restoreAllMocks();
  });
  return {
    advance: (milliseconds) => {
      ahead += milliseconds;
    },
  };
}
