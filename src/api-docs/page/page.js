import { lines, requestOf, ROOT, SAMPLES } from './samples.js';

// Runs in the browser after Swagger UI, and replaces components of Swagger UI that are too tall or
// too verbose. An open operation fits on one screen: its form on one side, samples and responses on
// the other.

const tokenField = document.getElementById('token');
/** Adds the token to a request that is being sent. Swagger UI and the samples never contain it. */
function withToken(request) {
  const token = tokenField.value.trim();
  if (token !== '') request.headers.Authorization = `Bearer ${token}`;
  return request;
}

const scheme = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', scheme.matches);
scheme.addEventListener('change', followScheme);
followScheme();

/** The plugin of Swagger UI. It has no JSX, because this file has no build step. */
function Page({ React: { createElement: h, useState } }) {
  /** Shows the form of an operation as a program in three languages. */
  function Samples(props) {
    const { path, method, specSelectors, getComponent } = props;
    const [language, setLanguage] = useState('curl');
    const operation = specSelectors.specResolvedSubtree(['paths', path, method]);
    const [requirement] = (operation.get('security') ?? specSelectors.security()).toJS();
    const tab = (name) =>
      h(
        'button',
        { key: name, role: 'tab', 'aria-selected': name === language, onClick: () => setLanguage(name) },
        name,
      );
    const sample = SAMPLES[language]({
      ...requestOf({ ...props, operation }),
      needsToken: requirement !== undefined,
    });
    return h(
      'section',
      { className: 'samples' },
      h(
        'header',
        {},
        h('div', { role: 'tablist' }, Object.keys(SAMPLES).map(tab)),
        h('span', {}, requirement ? `needs ${requirement.bearer[0] ?? 'any valid token'}` : 'needs no token'),
      ),
      h(
        getComponent('HighlightCode', true),
        { canCopy: true, language: language === 'curl' ? 'bash' : language.toLowerCase() },
        sample,
      ),
    );
  }

  /** Shows the response to a request. */
  function LiveResponse({ response, getComponent, getConfigs }) {
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
      status === 401 &&
        h('p', {}, 'This operation needs a valid token: see step 2, at the top of this page.'),
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

  /** Shows an example of a successful response, and its schema in a tab. */
  function SuccessResponse({ code, response, specPath, ...tools }) {
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

  /** Lists the errors. The description of the service explains their common format. */
  function ErrorResponses({ errors, getComponent }) {
    const Markdown = getComponent('Markdown', true);
    const definition = ([code, response]) => [
      h('dt', { key: code }, code),
      h('dd', { key: `${code} when` }, h(Markdown, { source: response.get('description') })),
    ];
    return h(
      'details',
      { className: 'errors' },
      h('summary', {}, `Errors: ${errors.map(([code]) => code).join(' ')}`),
      h('dl', {}, errors.map(definition)),
    );
  }

  function Responses({ responses, tryItOutResponse, path, method, specPath, ...all }) {
    const { specSelectors, getComponent, getConfigs } = all;
    const tools = { specSelectors, getComponent, getConfigs };
    const isError = ([code]) => Number(code) >= 400;
    const entries = responses.entrySeq().toArray();
    const success = ([code, response]) =>
      h(SuccessResponse, { key: code, code, response, specPath: specPath.push(code), ...tools });
    return h(
      'div',
      { className: 'responses-wrapper' },
      h(getComponent('Samples', true), { path, method }),
      tryItOutResponse
        ? h(LiveResponse, { response: tryItOutResponse, ...tools })
        : entries.filter((entry) => !isError(entry)).map(success),
      h(ErrorResponses, { errors: entries.filter(isError), getComponent }),
    );
  }

  function Search({ layoutActions }) {
    const label = 'Search operations';
    const onChange = ({ target }) => layoutActions.updateFilter(target.value);
    const field = { className: 'search', type: 'search', placeholder: label, 'aria-label': label, onChange };
    return h('div', { className: 'wrapper' }, h('input', field));
  }

  const OperationsOrMessage = (Operations) => (props) =>
    props.specSelectors.taggedOperations().size === 0
      ? h('p', { className: 'wrapper' }, 'No operation contains all of these words.')
      : h(Operations, props);

  const Nothing = () => null;
  return {
    components: {
      responses: Responses,
      Samples,
      FilterContainer: Search,
      TryItOutButton: Nothing,
      authorizeOperationBtn: Nothing,
      AuthorizeBtnContainer: Nothing,
      ServersContainer: Nothing,
    },
    wrapComponents: { operations: OperationsOrMessage },
    fn: { opsFilter },
  };
}

/** Returns the operations that contain all words in their tag, method, path or texts. */
function opsFilter(tags, phrase) {
  const words = phrase.toLowerCase().split(/\s+/);
  const matches = (tag) => (entry) => {
    const texts = ['operationId', 'summary', 'description'].map((name) => entry.getIn(['operation', name]));
    const text = [tag, entry.get('method'), entry.get('path'), ...texts].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return tags
    .map((tag, name) => tag.update('operations', (operations) => operations.filter(matches(name))))
    .filter((tag) => tag.get('operations').size > 0);
}

SwaggerUIBundle({
  url: `${ROOT}openapi.json`,
  dom_id: '#swagger-ui',
  deepLinking: true,
  // The default is a validator on another host.
  validatorUrl: null,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: -1,
  requestInterceptor: withToken,
  plugins: [Page],
});
