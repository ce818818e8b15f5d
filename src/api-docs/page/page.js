import { lines, requestOf, SAMPLES } from './samples.js';

// Runs in the browser, after Swagger UI. Where Swagger UI's own parts are tall or say too much, ours stand in their
// place, so that an opened operation fits one screen: its form on one side, samples and answers on the other.

const tokenField = document.getElementById('token');
/** Only what is sent has the token: Swagger UI and the samples never see it. */
function withToken(request) {
  const token = tokenField.value.trim();
  if (token !== '') request.headers.Authorization = `Bearer ${token}`;
  return request;
}

const scheme = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', scheme.matches);
scheme.addEventListener('change', followScheme);
followScheme();

/** The plugin of Swagger UI. Its components are functions of React, without JSX, since nothing builds this file. */
function Page({ React: { createElement: h, useState } }) {
  /** The form of an operation as a program, in three languages. */
  function Samples(props) {
    const { path, method, specSelectors, getComponent } = props;
    const [language, setLanguage] = useState('curl');
    const operation = specSelectors.specResolvedSubtree(['paths', path, method]);
    const [needs] = (operation.get('security') ?? specSelectors.security()).toJS();
    const tab = (name) =>
      h(
        'button',
        { key: name, role: 'tab', 'aria-selected': name === language, onClick: () => setLanguage(name) },
        name,
      );
    const sample = SAMPLES[language]({
      ...requestOf({ ...props, operation }),
      needsToken: needs !== undefined,
    });
    return h(
      'section',
      { className: 'samples' },
      h(
        'header',
        {},
        h('div', { role: 'tablist' }, Object.keys(SAMPLES).map(tab)),
        h('span', {}, needs ? `needs ${needs.bearer[0] ?? 'any valid token'}` : 'needs no token'),
      ),
      h(
        getComponent('HighlightCode', true),
        { canCopy: true, language: language === 'curl' ? 'bash' : language.toLowerCase() },
        sample,
      ),
    );
  }

  /** The answer that came. */
  function Live({ response, getComponent, getConfigs }) {
    const headers = response.get('headers').toJS();
    const [status, duration] = [response.get('status'), response.get('duration')];
    const Markdown = getComponent('Markdown', true);
    return h(
      'section',
      { className: 'live' },
      h(
        'h4',
        {},
        status === undefined
          ? h(Markdown, { source: response.get('message') })
          : `${status}${duration === undefined ? '' : ` in ${duration} ms`}`,
      ),
      response.get('text') &&
        h(getComponent('responseBody'), {
          content: response.get('text'),
          contentType: headers['content-type'],
          url: response.get('url'),
          headers,
          getComponent,
          getConfigs,
        }),
      h(
        'details',
        {},
        h('summary', {}, 'Headers'),
        h('pre', {}, lines('\n', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`))),
      ),
    );
  }

  /** What is answered on success: an example, and its schema behind a tab. */
  function Success({ code, response, specPath, ...tools }) {
    const { getComponent } = tools;
    const Markdown = getComponent('Markdown', true);
    const [[type, content] = []] = response.get('content')?.entrySeq() ?? [];
    const example = content?.get('examples').first().get('value');
    const text = example?.toJS ? JSON.stringify(example, undefined, 2) : example;
    const headers = response.get('headers');
    return h(
      'section',
      { className: 'success' },
      h('h4', {}, code, h(Markdown, { source: response.get('description') })),
      content &&
        h(getComponent('modelExample', true), {
          ...tools,
          specPath: specPath.push('content', type, 'schema'),
          schema: content.get('schema'),
          example: h(getComponent('HighlightCode', true), { language: 'json' }, text),
          includeReadOnly: true,
        }),
      headers &&
        h(
          'details',
          {},
          h('summary', {}, `Headers: ${headers.keySeq().join(', ')}`),
          h(getComponent('headers'), { headers, getComponent }),
        ),
    );
  }

  /** When each error comes. What all have in common stands once, in the description of the service. */
  function Errors({ errors, getComponent }) {
    const Markdown = getComponent('Markdown', true);
    const told = ([code, response]) => [
      h('dt', { key: code }, code),
      h('dd', { key: `${code} when` }, h(Markdown, { source: response.get('description') })),
    ];
    return h(
      'details',
      { className: 'errors' },
      h('summary', {}, `Errors: ${errors.map(([code]) => code).join(' ')}`),
      h('dl', {}, errors.map(told)),
    );
  }

  function Answers({ responses, tryItOutResponse, path, method, specPath, ...all }) {
    const { specSelectors, getComponent, getConfigs } = all;
    const tools = { specSelectors, getComponent, getConfigs };
    const isError = ([code]) => Number(code) >= 400;
    const answers = responses.entrySeq().toArray();
    const success = ([code, response]) =>
      h(Success, { key: code, code, response, specPath: specPath.push(code), ...tools });
    return h(
      'div',
      { className: 'responses-wrapper' },
      h(getComponent('Samples', true), { path, method }),
      tryItOutResponse
        ? h(Live, { response: tryItOutResponse, ...tools })
        : answers.filter((answer) => !isError(answer)).map(success),
      h(Errors, { errors: answers.filter(isError), getComponent }),
    );
  }

  function Search({ layoutActions }) {
    const label = 'Search the operations';
    const onChange = ({ target }) => layoutActions.updateFilter(target.value);
    const field = { className: 'search', type: 'search', placeholder: label, 'aria-label': label, onChange };
    return h('div', { className: 'wrapper' }, h('input', field));
  }

  const WhereFound = (Operations) => (props) =>
    props.specSelectors.taggedOperations().size === 0
      ? h('p', { className: 'wrapper' }, 'No operation has all these words.')
      : h(Operations, props);

  const Nothing = () => null;
  return {
    components: {
      responses: Answers,
      Samples,
      FilterContainer: Search,
      TryItOutButton: Nothing,
      authorizeOperationBtn: Nothing,
      AuthorizeBtnContainer: Nothing,
      ServersContainer: Nothing,
    },
    wrapComponents: { operations: WhereFound },
    fn: { opsFilter },
  };
}

/** The operations that have all words in their tag, method, path, names or description. */
function opsFilter(tags, phrase) {
  const words = phrase.toLowerCase().split(/\s+/);
  const isMeant = (tag) => (found) => {
    const told = ['operationId', 'summary', 'description'].map((name) => found.getIn(['operation', name]));
    const text = [tag, found.get('method'), found.get('path'), ...told].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return tags
    .map((tag, name) => tag.update('operations', (operations) => operations.filter(isMeant(name))))
    .filter((tag) => tag.get('operations').size > 0);
}

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  // Its validator is a service on another host.
  validatorUrl: null,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: -1,
  requestInterceptor: withToken,
  plugins: [Page],
});
