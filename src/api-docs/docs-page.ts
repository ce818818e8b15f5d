/** The page `/docs`. A proxy may have removed a prefix, so its references are relative to `{root}`. */
export const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Time logs: the API</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="{root}{files}/swagger-ui.css" />
  </head>
  <body>
    <p>
      To send requests, press <b>Authorize</b> and paste a token: the text of <code>.data/access-token</code>, or what
      <code>npm run token -- create --name NAME</code> prints. It is forgotten when you leave the page.
    </p>
    <div id="swagger-ui"></div>
    <script src="{root}{files}/swagger-ui-bundle.js"></script>
    <script src="{root}docs/start.js"></script>
  </body>
</html>
`;

/** The script of the page. By default, Swagger UI sends the document to a validator on another host. */
export const SCRIPT = `SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href,
  dom_id: '#swagger-ui',
  persistAuthorization: false,
  validatorUrl: null,
  defaultModelsExpandDepth: -1,
});
`;

/** Allows only resources of the service, and `data:` URLs for the icons of Swagger UI. */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
