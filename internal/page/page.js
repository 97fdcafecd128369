// The token stands in the HTML and not here, as any site may run this script,
// but none can read the HTML.
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
