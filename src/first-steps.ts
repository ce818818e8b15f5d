export interface FirstSteps {
  /** Absolute path of the file that holds a token. */
  readonly tokenFile: string;
  /** The address that the service listens on; undefined for all interfaces. */
  readonly host: string | undefined;
  readonly port: number;
  readonly today: Date;
  /** Whether there is a page to try the service on. */
  readonly apiDocs: boolean;
}

/**
 * Two shell commands, which record a log and list it, and a page for a browser. They name the file of the token instead
 * of the token itself: what is printed ends up in logs.
 */
export function firstSteps({ tokenFile, host, port, today, apiDocs }: FirstSteps): string {
  const base = `http://${reachable(host)}:${port}`;
  const url = `${base}/api/v1/time-logs`;
  // The answer has no line feed at its end, and the prompt would follow it on the same line.
  const curl = "curl -w '\\n'";
  const authorization = `-H "Authorization: Bearer $(cat ${shellQuoted(tokenFile)})"`;
  const body = JSON.stringify({
    projectId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    duration: 1.5,
    description: 'My first log',
    date: today.toISOString().slice(0, 10),
  });
  return [
    '',
    'Record a log:',
    '',
    `${curl} ${authorization} -H 'Content-Type: application/json' -d ${shellQuoted(body)} ${shellQuoted(url)}`,
    '',
    'List the logs:',
    '',
    `${curl} ${authorization} ${shellQuoted(url)}`,
    '',
    ...(apiDocs ? [`Try it: ${base}/docs`, ''] : []),
  ].join('\n');
}

function reachable(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
