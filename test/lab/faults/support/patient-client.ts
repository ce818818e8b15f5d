import { TimeLogClient } from '@time-logs/client';

const NAME = 'http://service.example';

/** A client that finds the service at one name, as behind a balancer; its port is another one after each start. */
export function patientClient(token: string, url: () => string): TimeLogClient {
  return new TimeLogClient({
    baseUrl: NAME,
    token,
    fetch: (address, init) => fetch(address.replace(NAME, url()), init),
    // A start may be slow where much else runs.
    tries: 100,
    deadline: 60_000,
  });
}
