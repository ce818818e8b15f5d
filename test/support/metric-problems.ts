interface Family {
  readonly name: string;
  readonly type: string;
  readonly hasHelp: boolean;
  readonly labels: readonly string[];
}

const ABBREVIATION = /_(s|ms|us|ns|sec|b|kb|mb|gb|tb|pb|m|h|d)(_|$)/i;
const OTHER_UNIT =
  /(^|_)(minutes|hours|days|weeks|kelvins|fahrenheit|rankine|inches|yards|miles|bits|calories|pounds|ounces)(_|$)/;
const PREFIXED_UNIT =
  /(^|_)(pico|nano|micro|milli|centi|deci|deca|hecto|kilo|[km]ibi|mega|gi[gb][ai]|te[rb][ai]|pe[tb][ai])(amperes|bytes|celsius|grams|joules|kelvin|met(er|re)s|seconds|volts)(_|$)/;

/** The rules of `promtool check metrics`, each with whether a metric breaks it. */
const RULES: Readonly<Record<string, (family: Family) => boolean>> = {
  'has no help': ({ hasHelp }) => !hasHelp,
  'is a counter without _total': ({ name, type }) => type === 'counter' && !name.endsWith('_total'),
  'is no counter but has _total': ({ name, type }) => type !== 'counter' && name.endsWith('_total'),
  'has a suffix of histograms': ({ name, type }) =>
    type === 'gauge' || type === 'counter' ? /_(bucket|count|sum)$/.test(name) : name.endsWith('_bucket'),
  'has a label of histograms or summaries': ({ type, labels }) =>
    (type !== 'histogram' && labels.includes('le')) || (type !== 'summary' && labels.includes('quantile')),
  'names its type': ({ name, type }) => new RegExp(`_${type}(_|$)`, 'i').test(name),
  'has a colon': ({ name }) => name.includes(':'),
  'is in camelCase': ({ name, labels }) => [name, ...labels].some((text) => /[a-z][A-Z]/.test(text)),
  'abbreviates its unit': ({ name }) => ABBREVIATION.test(name),
  'has no base unit': ({ name }) => OTHER_UNIT.test(name) || PREFIXED_UNIT.test(name),
};

/** What `promtool check metrics` holds against metrics in the text format of Prometheus. */
export function metricProblems(text: string): string[] {
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type = '']) => {
    const own = samples.filter((line) => new RegExp(`^${name}(_bucket|_count|_sum)?[ {]`).test(line));
    const labels = own.flatMap((line) => [...line.matchAll(/[{,](\w+)="/g)].map(([, label]) => label!));
    const family = { name, type, labels, hasHelp: text.includes(`# HELP ${name} `) };
    const broken = Object.entries(RULES).filter(([, isBroken]) => isBroken(family));
    return broken.map(([rule]) => `${name} ${rule}`);
  });
}

const metric = (name: string, type: string, ...samples: string[]) =>
  `# HELP ${name} A metric.\n# TYPE ${name} ${type}\n${(samples.length > 0 ? samples : [`${name} 1`]).join('\n')}\n`;

/** Metrics that break a rule each, by the problem. */
export const BAD_METRICS: Readonly<Record<string, string>> = {
  'a has no help': '# TYPE a gauge\na 1\n',
  'requests is a counter without _total': metric('requests', 'counter'),
  'nodejs_active_handles_total is no counter but has _total': metric('nodejs_active_handles_total', 'gauge'),
  'logs_count has a suffix of histograms': metric('logs_count', 'gauge'),
  'a has a label of histograms or summaries': metric('a', 'gauge', 'a{b="1",le="2"} 1'),
  'pool_gauge names its type': metric('pool_gauge', 'gauge'),
  'pool:size has a colon': metric('pool:size', 'gauge'),
  'poolSize is in camelCase': metric('poolSize', 'gauge'),
  'pool is in camelCase': metric('pool', 'gauge', 'pool{poolName="x"} 1'),
  'wait_ms abbreviates its unit': metric('wait_ms', 'gauge'),
  'wait_hours has no base unit': metric('wait_hours', 'gauge'),
  'size_megabytes has no base unit': metric('size_megabytes', 'gauge'),
};
