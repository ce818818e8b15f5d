// Formats a request as a program to paste into a terminal. Values are quoted, so that they are sent
// unchanged.

/** The address of the service. A proxy may have removed a prefix of it from our paths. */
export const ROOT = new URL('../..', import.meta.url).href;

export const lines = (separator, ...parts) => parts.flat().join(separator);
const quoteShell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
const quotePython = (text) => `'''${text.replace(/[\\']/g, '\\$&')}'''`;
/** Formats an object literal for JavaScript and Python, with one entry per line. */
const literal = (entries) =>
  lines('\n', '{', ...entries.map(([name, value]) => `    "${name}": ${value},`), '  }');

/** The formatters by language. Their programs read the token from the environment. */
export const SAMPLES = {
  curl: ({ method, url, headers, body, needsToken }) =>
    lines(
      ' \\\n  ',
      `curl ${method === 'GET' ? '' : `-X ${method} `}${quoteShell(url)}`,
      needsToken ? '-H "Authorization: Bearer $TOKEN"' : [],
      headers.map(([name, value]) => `-H ${quoteShell(`${name}: ${value}`)}`),
      body === undefined ? [] : `-d ${quoteShell(body)}`,
    ),
  JavaScript: ({ method, url, headers, body, needsToken }) => {
    const all = [
      ...(needsToken ? [['Authorization', '`Bearer ${process.env.TOKEN}`']] : []),
      ...headers.map(([name, value]) => [name, JSON.stringify(value)]),
    ];
    return lines(
      '\n',
      `const response = await fetch(${JSON.stringify(url)}, {`,
      `  method: "${method}",`,
      `  headers: ${literal(all)},`,
      body === undefined ? [] : `  body: JSON.stringify(${body.replaceAll('\n', '\n  ')}),`,
      '});',
      'console.log(response.status, await response.text());',
    );
  },
  Python: ({ method, url, headers, body, needsToken }) => {
    const all = [
      ...(needsToken ? [['Authorization', '"Bearer " + os.environ["TOKEN"]']] : []),
      ...headers.map(([name, value]) => [name, JSON.stringify(value)]),
    ];
    return lines(
      '\n',
      'import os, urllib.request',
      'request = urllib.request.Request(',
      `  ${JSON.stringify(url)},`,
      `  method="${method}",`,
      `  headers=${literal(all)},`,
      body === undefined ? [] : `  data=${quotePython(body)}.encode(),`,
      ')',
      'with urllib.request.urlopen(request) as response:',
      '  print(response.status, response.read().decode())',
    );
  },
};

/** Returns the request that the form of an operation sends. */
export function requestOf({ path, method, operation, specSelectors, oas3Selectors }) {
  const values = specSelectors.parameterValues([path, method]);
  const parameters = operation
    .get('parameters')
    .toArray()
    .map((parameter) => {
      const [location, name] = [parameter.get('in'), parameter.get('name')];
      // A path needs a value for each parameter.
      const example = location === 'path' ? parameter.getIn(['schema', 'examples', 0]) : '';
      return { location, name, value: String(values.get(`${location}.${name}`) || example || '') };
    })
    .filter(({ value }) => value !== '');
  const parametersIn = (target) =>
    parameters.filter(({ location }) => location === target).map(({ name, value }) => [name, value]);
  const resolvedPath = parametersIn('path').reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  const query = new URLSearchParams(parametersIn('query')).toString();
  const body = oas3Selectors.requestBodyValue(path, method) ?? undefined;
  const type = oas3Selectors.requestContentType(path, method);
  return {
    method: method.toUpperCase(),
    url: ROOT + resolvedPath.slice(1) + (query && `?${query}`),
    headers: [...parametersIn('header'), ...(body === undefined ? [] : [['Content-Type', type]])],
    body,
  };
}
