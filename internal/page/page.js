// The token stands in the HTML and not here: what another site could at most run
// is a script, and it can never read the HTML.
const page = document.getElementById('page');
const ui = SwaggerUIBundle({
  url: 'openapi.yaml',
  domNode: page,
  tryItOutEnabled: true,
  docExpansion: 'full',
  defaultModelsExpandDepth: 0,
  onComplete: () => {
    if (page.dataset.token) ui.preauthorizeApiKey('bearerAuth', page.dataset.token);
  },
});
