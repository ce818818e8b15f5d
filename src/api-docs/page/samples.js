// A request as a program to paste into a terminal. Whatever the texts hold, the program sends exactly them.

export const lines = (separator, ...parts) => parts.flat().join(separator);
const shellText = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
const pythonText = (text) => `'''${text.replace(/[\\']/g, '\\$&')}'''`;
/** `{ a: b }` in JavaScript and Python, one member a line. */
const literal = (entries) =>
  lines('\n', '{', ...entries.map(([name, value]) => `    "${name}": ${value},`), '  }');

/** Each takes the token from the environment, so that none shows it. */
export const SAMPLES = {
  curl: ({ method, url, headers, body, needsToken }) =>
    lines(
      ' \\\n  ',
      `curl ${method === 'GET' ? '' : `-X ${method} `}${shellText(url)}`,
      needsToken ? '-H "Authorization: Bearer $TOKEN"' : [],
      headers.map(([name, value]) => `-H ${shellText(`${name}: ${value}`)}`),
      body === undefined ? [] : `-d ${shellText(body)}`,
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
      body === undefined ? [] : `  data=${pythonText(body)}.encode(),`,
      ')',
      'with urllib.request.urlopen(request) as response:',
      '  print(response.status, response.read().decode())',
    );
  },
};

/** What the form of an operation would send as it is filled in. */
export function requestOf({ path, method, operation, specSelectors, oas3Selectors }) {
  const values = specSelectors.parameterValues([path, method]);
  const given = operation
    .get('parameters')
    .toArray()
    .map((parameter) => {
      const [place, name] = [parameter.get('in'), parameter.get('name')];
      // A path is not complete without its values.
      const example = place === 'path' ? parameter.getIn(['schema', 'examples', 0]) : '';
      return { place, name, value: String(values.get(`${place}.${name}`) || example || '') };
    })
    .filter(({ value }) => value !== '');
  const of = (wanted) =>
    given.filter(({ place }) => place === wanted).map(({ name, value }) => [name, value]);
  const target = of('path').reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  const query = new URLSearchParams(of('query')).toString();
  const body = oas3Selectors.requestBodyValue(path, method) ?? undefined;
  const type = oas3Selectors.requestContentType(path, method);
  return {
    method: method.toUpperCase(),
    url: location.origin + target + (query && `?${query}`),
    headers: [...of('header'), ...(body === undefined ? [] : [['Content-Type', type]])],
    body,
  };
}
