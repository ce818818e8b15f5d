/** Everything comes from the service itself, except the icons in Swagger UI's styles, which are `data:` URLs. */
export const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page that shows the document. Paths of its files are absolute, since it may be opened with a trailing slash. */
export const docsPage = (files: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Time logs: the API</title>
    <link rel="icon" href="/${files}/favicon-32x32.png">
    <link rel="stylesheet" href="/${files}/swagger-ui.css">
    <link rel="stylesheet" href="/${files}/page.css">
  </head>
  <body>
    <noscript>This page needs JavaScript. The document that it shows: <a href="/openapi.json">openapi.json</a></noscript>
    <div id="swagger-ui"></div>
    <script src="/${files}/swagger-ui-bundle.js"></script>
    <script src="/${files}/start.js"></script>
  </body>
</html>
`;

/** Starts Swagger UI, without its validator, which is a service on another host. */
export const START_SCRIPT = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
});
`;

/** On phones, Swagger UI's tables become lists. Its column of links is hidden everywhere: no route has any. */
export const PAGE_STYLE = `body {
  margin: 0;
}
.swagger-ui table.responses-table > thead > tr > td.response-col_links,
.swagger-ui table.responses-table > tbody > tr > td.response-col_links {
  display: none;
}
@media (max-width: 640px) {
  .swagger-ui .wrapper,
  .swagger-ui .opblock-body .opblock-description-wrapper,
  .swagger-ui .responses-inner,
  .swagger-ui table.parameters {
    padding: 0 10px;
  }
  .swagger-ui .servers label,
  .swagger-ui .servers select {
    display: block;
    margin: 0;
    max-width: 100%;
    min-width: 0;
    width: 100%;
  }
  .swagger-ui .opblock-tag {
    flex-wrap: wrap;
  }
  .swagger-ui .opblock-tag small {
    flex: 1 1 60%;
    order: 1;
    padding: 0;
  }
  .swagger-ui table.parameters > thead,
  .swagger-ui table.responses-table > thead {
    display: none;
  }
  .swagger-ui table.parameters,
  .swagger-ui table.parameters > tbody,
  .swagger-ui table.parameters > tbody > tr,
  .swagger-ui table.parameters > tbody > tr > td,
  .swagger-ui table.responses-table,
  .swagger-ui table.responses-table > tbody,
  .swagger-ui table.responses-table > tbody > tr,
  .swagger-ui table.responses-table > tbody > tr > td {
    display: block;
    max-width: none;
    min-width: 0;
    width: auto;
  }
  .swagger-ui table.parameters > tbody > tr > td,
  .swagger-ui table.responses-table > tbody > tr > td {
    padding: 4px 0;
  }
  .swagger-ui .parameters-col_description input,
  .swagger-ui .parameters-col_description select {
    max-width: none;
    width: 100%;
  }
  .swagger-ui table.responses-table > tbody > tr > td.response-col_status {
    font-weight: bold;
  }
  .swagger-ui table.headers td {
    padding-right: 8px;
    vertical-align: top;
  }
}
`;
